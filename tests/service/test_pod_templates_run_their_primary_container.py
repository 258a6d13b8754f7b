"""A task whose target is a pod: its primary container's command runs here, with that container's environment."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import anyio
import pytest
from flyteidl.admin.task_pb2 import TaskSpec
from google.protobuf import json_format

from engine.wire.packaging import package_file
from tests.service.command import WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


def to_pod(data: bytes) -> bytes:
    """What flytekit writes of a task with a pod template: the container inside a pod, as its primary one."""
    spec = TaskSpec.FromString(data)
    container = spec.template.container
    env = [{"name": pair.key, "value": pair.value} for pair in container.env]
    primary = {"name": "main", "image": container.image, "args": list(container.args), "env": env}
    pod = {"containers": [{"name": "side", "image": "proxy:1", "args": ["proxy"]}, primary]}
    spec.template.ClearField("container")
    json_format.ParseDict(pod, spec.template.k8s_pod.pod_spec)
    spec.template.config["primary_container_name"] = "main"
    return bytes(spec.SerializeToString())


def package(folder: Path) -> str:
    files = anyio.run(partial(package_file, WORKFLOWS / "features.py"))
    for name, data in files.files.items():
        pod = name.endswith("_1.pb") and TaskSpec.FromString(data).template.HasField("container")
        (folder / name).write_bytes(to_pod(data) if pod else data)
    shutil.copy(WORKFLOWS / "features.py", folder)
    return str(folder)


def test_tasks_and_elements_of_maps(propwash: Propwash, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    made = package(folder)
    words = ["--json", "--code-root", made, made]
    assert propwash("run", *words, "wf_furnished", "--n", "1").document["outputs"] == {"o0": "mine 1"}
    assert propwash("run", *words, "wf_rows", "--rows", "[[1,2],[3]]").document["outputs"] == {"o0": [3, 3]}
