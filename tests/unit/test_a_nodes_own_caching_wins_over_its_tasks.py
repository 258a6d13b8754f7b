from __future__ import annotations

from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core import tasks_pb2, workflow_pb2
from flyteidl.core.types_pb2 import LiteralType

from engine.model.cache import CachePolicy
from tests.literal_types import INT
from tests.packages import complaints, graph_of, map_node, node, output, task, workflow

ONE = {"a": output("", "n")}


def cached(version: str = "1", *, serialize: bool = False, ignored: tuple[str, ...] = ()) -> TaskSpec:
    spec = task("m.t")
    spec.template.metadata.discoverable = True
    spec.template.metadata.discovery_version = version
    spec.template.metadata.cache_serializable = serialize
    spec.template.metadata.cache_ignore_input_vars.extend(ignored)
    return spec


def policy(spec: TaskSpec, made: workflow_pb2.Node) -> CachePolicy | None:
    return graph_of(spec, workflow("m.w", made)).nodes["n0"].cache


def test_a_task_says_how_it_is_cached() -> None:
    assert policy(task("m.t"), node("n0", ONE)) is None
    assert policy(cached(), node("n0", ONE)) == CachePolicy("1")
    wanted = CachePolicy("2", serialize=True, ignored=frozenset({"a"}))
    assert policy(cached("2", serialize=True, ignored=("a",)), node("n0", ONE)) == wanted


def test_a_node_can_switch_it_on_and_off() -> None:
    made = node("n0", ONE)
    made.metadata.cacheable = False
    assert policy(cached(), made) is None
    made.metadata.cacheable = True
    made.metadata.cache_version = "node"
    made.metadata.cache_serializable = True
    assert policy(task("m.t"), made) == CachePolicy("node", serialize=True)


def test_what_a_node_does_not_say_is_its_tasks() -> None:
    made = node("n0", ONE)
    made.metadata.cache_version = "3"
    assert policy(cached(serialize=True, ignored=("a",)), made) == CachePolicy("3", True, frozenset({"a"}))


def test_on_a_map_it_stands_on_the_inner_node() -> None:
    made = map_node("n0", {"a": output("", "ns")})
    made.array_node.node.metadata.cache_version = "inner"
    spec = cached()
    for variables in (spec.template.interface.inputs, spec.template.interface.outputs):
        for variable in variables.variables.values():
            variable.type.collection_type.simple = variable.type.simple
    listed = workflow("m.w", made, inputs={"ns": LiteralType(collection_type=INT)})
    assert graph_of(spec, listed).nodes["n0"].cache == CachePolicy("inner")


def test_a_task_without_outputs_has_nothing_to_keep() -> None:
    spec = cached()
    spec.template.interface.outputs.variables.clear()
    assert policy(spec, node("n0", ONE)) is None


def test_caching_without_a_version_is_refused() -> None:
    (complaint,) = complaints(cached(""), workflow("m.w", node("n0", ONE)))
    assert complaint.endswith("node n0: its results are to be cached, but no cache version is given")


def test_overrides_are_kept_as_they_are() -> None:
    made = node("n0", ONE)
    overrides = workflow_pb2.TaskNodeOverrides(
        container_image="img:2",
        resources=tasks_pb2.Resources(
            limits=[tasks_pb2.Resources.ResourceEntry(name=tasks_pb2.Resources.CPU, value="2")]
        ),
    )
    made.task_node.overrides.CopyFrom(overrides)
    spec = graph_of(task("m.t"), workflow("m.w", made)).nodes["n0"]
    assert workflow_pb2.TaskNodeOverrides.FromString(spec.overrides) == overrides
