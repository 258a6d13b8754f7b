"""A package may hold more than this version can run; only what is asked for must be runnable."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core import workflow_pb2
from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.types_pb2 import LiteralType

from engine.model.errors import BadPackage
from engine.model.graph import NodeKind
from engine.model.ids import EntityId
from engine.wire.lookup import ensure_runnable, reachable_problems
from tests.literal_types import INT
from tests.packages import (
    Entity,
    calls,
    compiled,
    given,
    map_node,
    node,
    output,
    plan,
    plan_id,
    task,
    workflow,
    workflow_id,
)

KINDS = {NodeKind.START, NodeKind.END, NodeKind.TASK, NodeKind.ARRAY, NodeKind.SUBWORKFLOW, NodeKind.LAUNCH_PLAN}
T = task("m.t")
LIST = LiteralType(collection_type=INT)
SOUND = workflow("m.sound", node("n0", {"a": given("n")}))


def reasons(entity: EntityId, *entities: Entity) -> list[str]:
    result = compiled(T, SOUND, *entities)
    assert reachable_problems(result, workflow_id("m.sound"), KINDS) == ()
    return [str(problem) for problem in reachable_problems(result, entity, KINDS)]


def flow(*nodes: workflow_pb2.Node) -> Entity:
    return workflow("m.w", *nodes)


def changed(change: Callable[[TaskSpec], object]) -> TaskSpec:
    spec = task("m.odd")
    change(spec)
    return spec


def branch() -> workflow_pb2.Node:
    made = workflow_pb2.Node(id="n0")
    made.metadata.name = "small"
    made.branch_node.if_else.case.then_node.CopyFrom(node("n0", {"a": given("n")}))
    made.branch_node.if_else.else_node.CopyFrom(node("n1", {"a": given("n")}))
    return made


def gate() -> workflow_pb2.Node:
    made = workflow_pb2.Node(id="n0")
    made.gate_node.signal.signal_id = "how-many"
    made.gate_node.signal.output_variable_name = "o0"
    made.gate_node.signal.type.CopyFrom(INT)
    return made


NODES = {
    "branch": (branch(), "conditional('small'): nodes of kind 'branch' can't be run"),
    "gate": (gate(), "nodes of kind 'gate' can't be run"),
    "elsewhere": (
        node("n0", {"a": given("n")}, runs=Identifier(project="x", domain="y", name="z.t", version="v9")),
        "it runs the task z.t of x/y, version v9, which is not in this package",
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_of_another_kind(name: str) -> None:
    made, reason = NODES[name]
    after = node("n1", {"a": output("n0")})
    assert reasons(workflow_id("m.w"), flow(made, after)) == [f"workflow m.w, node n0: {reason}"]


def gives_a_list(spec: TaskSpec) -> None:
    spec.template.type = "raw-container"
    spec.template.interface.outputs.variables["o0"].type.collection_type.simple = INT.simple


SENSOR = task("m.odd")
SENSOR.template.type = "object-store-sensor"
SENSOR.template.ClearField("container")
TASKS: dict[str, tuple[Callable[[TaskSpec], object], str]] = {
    "no container": (
        lambda spec: spec.template.CopyFrom(SENSOR.template),
        "tasks of type 'object-store-sensor' have no container: they need a runner that this version lacks",
    ),
    "no command": (
        lambda spec: spec.template.container.ClearField("args"),
        "it has no command of its own: running its image's needs a runner that this version lacks",
    ),
    "eager": (
        lambda spec: setattr(spec.template.metadata, "is_eager", True),
        "it is an @eager workflow, which starts its tasks through a Flyte admin service, and this version offers none; "
        "write it as a @workflow, or as a @dynamic where it decides by values",
    ),
    "legacy map": (
        lambda spec: setattr(spec.template, "type", "container_array"),
        "it is a map task of an old kind (type container_array) that flytekit.core.legacy_map_task did not write; "
        "use flytekit.map_task",
    ),
    "outputs that are no files": (
        lambda spec: gives_a_list(spec),
        "its output 'o0' is of type list[int], which a container can't leave as a file",
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_that_nothing_here_runs(name: str) -> None:
    change, reason = TASKS[name]
    spec = flow(node("n0", {"a": given("n")}, runs="m.odd"))
    assert reasons(workflow_id("m.w"), changed(change), spec) == [f"task m.odd: {reason}"]


def test_a_pod_template_and_a_raw_container_have_a_command() -> None:
    def to_pod(spec: TaskSpec) -> None:
        spec.template.k8s_pod.pod_spec["containers"] = [{"name": "primary", "args": ["pyflyte-execute"]}]

    spec = flow(node("n0", {"a": given("n")}, runs="m.odd"))
    assert reasons(workflow_id("m.w"), changed(to_pod), spec) == []
    raw = task("m.odd")
    raw.template.container.data_config.enabled = True
    raw.template.container.ClearField("args")
    assert reasons(workflow_id("m.w"), raw, spec) == []


def test_an_echo_needs_no_container() -> None:
    echo = task("m.odd")
    echo.template.ClearField("container")
    echo.template.type = "echo"
    assert reasons(workflow_id("m.w"), echo, flow(node("n0", {"a": given("n")}, runs="m.odd"))) == []


@pytest.mark.parametrize("kind", ["echo", "raw-container"])
def test_what_no_sdk_maps_is_no_element(kind: str) -> None:
    odd = task("m.odd", {"a": LIST}, {"o0": LIST if kind == "echo" else INT})
    odd.template.type = kind
    spec = workflow("m.w", map_node("n0", {"a": given("ns")}, runs="m.odd"), inputs={"ns": LIST})
    assert reasons(workflow_id("m.w"), odd, spec) == [
        f"workflow m.w, node n0: it maps over a task of type '{kind}', which can't be an element of a map"
    ]


def test_a_failure_node_is_a_node_like_any_other() -> None:
    spec = workflow("m.w", node("n0", {"a": given("n")}))
    spec.template.failure_node.CopyFrom(gate())
    spec.template.failure_node.id = "fn0"
    assert reasons(workflow_id("m.w"), spec) == ["workflow m.w, node fn0: nodes of kind 'gate' can't be run"]


def test_it_is_found_through_launch_plans_sub_workflows_and_maps() -> None:
    inner = workflow("m.inner", map_node("n0", {"a": given("n")}, runs="m.odd"))
    middle = workflow("m.middle", calls("n0", {"n": given("n")}, workflow="m.inner"))
    outer = workflow("m.outer", calls("n0", {"n": given("n")}, plan="m.middle-plan"))
    odd = changed(TASKS["eager"][0])
    entities: list[Entity] = [odd, inner, middle, outer, plan("m.middle-plan", middle), plan("m.outer", outer)]
    for entity in (plan_id("m.outer"), workflow_id("m.outer"), plan_id("m.middle-plan"), workflow_id("m.inner")):
        assert reasons(entity, *entities) == [f"task m.odd: {TASKS['eager'][1]}"]


def test_what_contradicts_itself_is_refused_whatever_is_run() -> None:
    result = compiled(T, SOUND, workflow("m.w", node("n0", runs="m.gone")))
    with pytest.raises(BadPackage) as caught:
        ensure_runnable(result, workflow_id("m.sound"), KINDS, "wf.py")
    assert str(caught.value) == (
        "wf.py can't be used, 1 problem; nothing was started:\n"
        "  - workflow m.w, node n0: it runs the task m.gone, which is not in the package"
    )


def test_a_kind_that_has_a_handler_is_no_problem() -> None:
    result = compiled(T, workflow("m.w", branch()))
    ensure_runnable(result, workflow_id("m.w"), {*KINDS, NodeKind.BRANCH}, "wf.py")
