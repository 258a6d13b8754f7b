"""What flytekit's legacy map task writes becomes a map node, whose elements put their outputs where they are told."""

from __future__ import annotations

import pytest
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core.tasks_pb2 import TaskTemplate
from flyteidl.core.types_pb2 import LiteralType

from engine.model.graph import ArraySpec, NodeKind
from engine.wire.compile import Compiled
from tests.literal_types import INT
from tests.packages import compiled, given, map_node, node, output, task, task_id, workflow, workflow_id

LIST = LiteralType(collection_type=INT)
OLD = "flytekit.core.legacy_map_task.MapTaskResolver"
NEW = "flytekit.core.array_node_map_task.ArrayNodeMapTaskResolver"
INNER = ["resolver", "flytekit.core.python_auto_container.default_task_resolver", "task-module", "m", "task-name", "t"]


def legacy(bound: str = "", **custom: str | float) -> TaskSpec:
    spec = task("m.map_t", {"a": LIST, "b": LIST}, {"o0": LIST})
    spec.template.type = "container_array"
    spec.template.container.args[:] = ["pyflyte-map-execute", "--resolver", OLD, "--", "vars", bound, *INNER]
    spec.template.custom.update(custom)
    return spec


def of(spec: TaskSpec) -> Compiled:
    bindings = {"a": given("ns"), "b": given("ns")}
    flow = workflow(
        "m.w", node("n0", bindings, runs="m.map_t"), inputs={"ns": LIST}, gives={"o0": (LIST, output("n0"))}
    )
    return compiled(spec, flow)


def array(spec: TaskSpec) -> ArraySpec:
    found = of(spec).program.workflows[workflow_id("m.w")].nodes["n0"]
    assert found.kind is NodeKind.ARRAY
    assert found.array is not None
    return found.array


def test_the_command_loads_the_resolver_that_writes_where_it_is_told() -> None:
    found = of(legacy())
    assert found.problems == ()
    spec = found.program.tasks[task_id("m.map_t")]
    args = list(TaskTemplate.FromString(spec.template).container.args)
    assert args == ["pyflyte-map-execute", "--resolver", NEW, "--", "vars", "", *INNER]
    assert spec.type == "python-task"
    assert spec.interface.inputs["a"] == LIST.SerializeToString()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (legacy(), ArraySpec()),
        (legacy("b"), ArraySpec(bound_inputs=frozenset({"b"}))),
        (legacy("b,a"), ArraySpec(bound_inputs=frozenset({"a", "b"}))),
        (
            legacy(parallelism="2", minSuccessRatio=0.800000011920929),
            ArraySpec(parallelism=2, min_success_ratio=0.800000011920929),
        ),
        (legacy(parallelism=0, minSuccesses="3"), ArraySpec(parallelism=0, min_successes=3)),
    ],
    ids=["plain", "one bound", "all bound", "texts", "numbers"],
)
def test_what_the_author_asked_for_is_kept(spec: TaskSpec, expected: ArraySpec) -> None:
    assert array(spec) == expected


def test_another_old_kind_is_refused() -> None:
    spec = legacy()
    spec.template.container.args[:] = ["pyflyte-map-execute", "--resolver", "flytekit.core.map_task.MapTaskResolver"]
    (problem,) = of(spec).problems
    assert str(problem) == (
        "task m.map_t: it is a map task of an old kind (type container_array) that flytekit.core.legacy_map_task did "
        "not write; use flytekit.map_task"
    )


def test_a_map_of_maps_is_refused() -> None:
    flow = workflow("m.w", map_node("n0", {"a": given("ns"), "b": given("ns")}, runs="m.map_t"), inputs={"ns": LIST})
    (problem,) = compiled(legacy(), flow).problems
    assert "it maps over a task of type 'container_array', which can't be an element of a map" in str(problem)
