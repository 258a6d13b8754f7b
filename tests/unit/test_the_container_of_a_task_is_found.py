"""What to run is in the task's container, or in the primary container of its pod."""

from __future__ import annotations

from typing import Any

import pytest
from flyteidl.core import tasks_pb2, workflow_pb2
from google.protobuf import json_format, struct_pb2
from msgspec import structs

from engine.data.container import Container, DataConfig, DataFormat, container_of
from engine.model.errors import ErrorKind, Permanent
from engine.model.graph import TaskSpec
from tests.programs import task

SPEC = task("work")
SIDECAR = {"name": "sidecar", "command": ["proxy"]}
MAIN = {
    "name": "main",
    "command": ["sh", "-c"],
    "args": ["run"],
    "env": [{"name": "A", "value": "1"}, {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s"}}}],
}


def of(template: tasks_pb2.TaskTemplate, kind: str = "python-task") -> TaskSpec:
    return structs.replace(SPEC, template=template.SerializeToString(), type=kind)


def pod(*containers: dict[str, Any], primary: str = "") -> TaskSpec:
    spec = json_format.ParseDict({"containers": list(containers)}, struct_pb2.Struct())
    config = {"primary_container_name": primary} if primary else {}
    return of(tasks_pb2.TaskTemplate(k8s_pod=tasks_pb2.K8sPod(pod_spec=spec), config=config))


def test_command_and_arguments_are_one_command() -> None:
    container = tasks_pb2.Container(command=["a"], args=["b", "c"], env=[{"key": "K", "value": "v"}])
    assert container_of(of(tasks_pb2.TaskTemplate(container=container))) == Container(("a",), ("b", "c"), {"K": "v"})


def test_the_primary_container_of_a_pod_counts() -> None:
    assert container_of(pod(SIDECAR, MAIN, primary="main")) == Container(("sh", "-c"), ("run",), {"A": "1"})


def test_an_only_container_needs_no_name() -> None:
    assert container_of(pod(MAIN)).argv == ("sh", "-c", "run")


@pytest.mark.parametrize(
    "spec",
    [
        of(tasks_pb2.TaskTemplate(), "echo"),
        of(tasks_pb2.TaskTemplate(sql=tasks_pb2.Sql(statement="select 1")), "echo"),
        of(tasks_pb2.TaskTemplate(container=tasks_pb2.Container(image="img:1")), "echo"),
        structs.replace(pod(SIDECAR, MAIN, primary="other"), type="echo"),
        structs.replace(pod(), type="echo"),
    ],
)
def test_a_task_with_nothing_to_run_names_its_type(spec: TaskSpec) -> None:
    with pytest.raises(Permanent) as problem:
        container_of(spec)
    assert problem.value.failure.kind is ErrorKind.USER
    assert "task work has type 'echo' and no container" in problem.value.failure.message


def pod_override(*containers: dict[str, Any], primary: str = "main") -> bytes:
    spec = json_format.ParseDict({"containers": list(containers)}, struct_pb2.Struct())
    pod = tasks_pb2.K8sPod(pod_spec=spec, primary_container_name=primary)
    return workflow_pb2.TaskNodeOverrides(pod_template=pod).SerializeToString()


def test_a_nodes_image_wins() -> None:
    container = tasks_pb2.Container(image="img:1", args=["b"])
    overrides = workflow_pb2.TaskNodeOverrides(container_image="img:2").SerializeToString()
    assert container_of(of(tasks_pb2.TaskTemplate(container=container)), overrides).image == "img:2"
    assert container_of(of(tasks_pb2.TaskTemplate(container=container))).image == "img:1"


def test_a_nodes_pod_wins_if_it_has_a_command() -> None:
    container = tasks_pb2.Container(image="img:1", args=["own"])
    spec = of(tasks_pb2.TaskTemplate(container=container))
    named = container_of(spec, pod_override(SIDECAR, {**MAIN, "image": "img:3"}))
    assert (named.argv, named.image, named.env) == (("sh", "-c", "run"), "img:3", {"A": "1"})
    assert container_of(spec, pod_override({"name": "main", "image": "img:3"})).argv == ("own",)


def test_where_a_raw_container_keeps_its_data() -> None:
    config = tasks_pb2.DataLoadingConfig(enabled=True, input_path="/in", output_path="/out", format="YAML")
    container = tasks_pb2.Container(image="img:1", command=["c"], data_config=config)
    assert container_of(of(tasks_pb2.TaskTemplate(container=container))).data == DataConfig(
        "/in", "/out", DataFormat.YAML
    )
    config = tasks_pb2.DataLoadingConfig(enabled=True, format="PROTO")
    container = tasks_pb2.Container(image="img:1", data_config=config)
    assert container_of(of(tasks_pb2.TaskTemplate(container=container))).data == DataConfig(
        "/var/flyte/inputs", "/var/flyte/outputs", DataFormat.PROTO
    )
