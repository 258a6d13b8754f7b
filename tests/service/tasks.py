"""Requests to run the tasks of tests/workflows/outcomes.py, or a shell script, as the engine would ask for them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyteidl.core import errors_pb2

from engine.model.graph import Interface, TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.ports.taskrunner import TaskRequest
from tests.dataplane import serialized, values_of

WORKFLOWS = Path(__file__).parents[1] / "workflows"
TASK = TaskSpec(EntityId(EntityKind.TASK, "p", "d", "t", "v"), "python-task", Interface(), b"")
RESOLVER = "flytekit.core.python_auto_container.default_task_resolver"
MAP_RESOLVER = "flytekit.core.array_node_map_task.ArrayNodeMapTaskResolver"
_SETTINGS = {"image_config": {"default_image": {"name": "default", "fqn": "img", "tag": "1"}, "images": []}}
ENVIRONMENT = {
    "FLYTE_INTERNAL_EXECUTION_ID": "e",
    "FLYTE_ATTEMPT_NUMBER": "0",
    "_F_SS_C": base64.b64encode(gzip.compress(json.dumps(_SETTINGS).encode())).decode(),
}
"""As a package sets it; without an image a dynamic task can't plan."""


def key(node: str = "n0", attempt: int = 0) -> AttemptKey:
    return AttemptKey(ExecutionId("p", "d", "e"), node, attempt)


class Bench:
    """A folder with the attempts of one test in it, as a store would lay them out."""

    def __init__(self, folder: Path, code_root: Path = WORKFLOWS, module: str = "outcomes") -> None:
        self.folder, self.code_root, self.module = folder, code_root, module

    def task(
        self,
        name: str,
        inputs: Mapping[str, object] | None = None,
        *,
        node: str = "n0",
        env: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> TaskRequest:
        """A flytekit task of `module`; its inputs are stored."""
        words = ["pyflyte-execute", *self._data(node, inputs or {}), "--resolver", RESOLVER, "--"]
        words += ["task-module", self.module, "task-name", name]
        return self._request(tuple(words), node, env, timeout_seconds)

    def element(self, name: str, inputs: Mapping[str, object], index: int, *, node: str = "n0") -> TaskRequest:
        """One element of a map over a flytekit task of `module`; the inputs are lists."""
        words = ["pyflyte-map-execute", *self._data(node, inputs), "--resolver", MAP_RESOLVER, "--"]
        words += ["vars", "", "resolver", RESOLVER, "task-module", self.module, "task-name", name]
        env = {"BATCH_JOB_ARRAY_INDEX_VAR_NAME": "FLYTE_K8S_ARRAY_INDEX", "FLYTE_K8S_ARRAY_INDEX": str(index)}
        return self._request(tuple(words), node, env, None)

    def _data(self, node: str, inputs: Mapping[str, object]) -> list[str]:
        base = self.folder / node
        base.mkdir(parents=True, exist_ok=True)
        (base / "inputs.pb").write_bytes(serialized(**inputs))
        words = ["--inputs", f"{base}/inputs.pb", "--output-prefix", f"{base}/0", "--raw-output-data-prefix"]
        return [*words, f"{base}/raw", "--checkpoint-path", f"{base}/cp", "--prev-checkpoint", '""']

    def shell(
        self,
        script: str,
        *,
        node: str = "n0",
        env: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> TaskRequest:
        return self._request(("sh", "-c", script), node, env, timeout_seconds)

    def python(self, script: str, *, node: str = "n0", timeout_seconds: float | None = None) -> TaskRequest:
        return self._request(("python", "-c", script), node, None, timeout_seconds)

    def with_daemon(self, lifeline: str, *, node: str = "n0") -> TaskRequest:
        """A shell that hangs, with a child in its group and one in a session of its own; they say which they are."""
        hang = "while :; do sleep 3600; done"
        daemon = f"setsid sh -c 'echo daemon >&9; {hang}' &"
        return self.shell(f"exec 9> {lifeline}; {daemon} (echo child >&9; {hang}) & echo shell >&9; {hang}", node=node)

    def _request(
        self, argv: tuple[str, ...], node: str, env: Mapping[str, str] | None, timeout_seconds: float | None
    ) -> TaskRequest:
        return TaskRequest(
            key=key(node),
            task=TASK,
            argv=argv,
            env=ENVIRONMENT | dict(env or {}),
            prefix_uri=f"file://{self.folder}/{node}/0",
            timeout_seconds=timeout_seconds,
            code_root=str(self.code_root),
        )

    def prefix(self, node: str = "n0") -> Path:
        return self.folder / node / "0"

    def outputs(self, node: str = "n0") -> Any:
        """The value of output o0."""
        return values_of((self.prefix(node) / "outputs.pb").read_bytes())["o0"]

    def error(self, node: str = "n0") -> errors_pb2.ContainerError:
        return errors_pb2.ErrorDocument.FromString((self.prefix(node) / "error.pb").read_bytes()).error


def nothing() -> None:
    """What a test gives as `started` when it does not matter."""
