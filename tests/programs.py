"""Small programs for tests, put together by hand: one line a node, no flytekit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flyteidl.core import interface_pb2, literals_pb2, tasks_pb2, types_pb2
from msgspec import structs

from engine.model.cache import CachePolicy
from engine.model.graph import (
    END_NODE,
    START_NODE,
    Arm,
    ArraySpec,
    Binding,
    BranchSpec,
    FailurePolicy,
    GateKind,
    GateSpec,
    Graph,
    Interface,
    LaunchPlanSpec,
    NodeKind,
    NodeSpec,
    Program,
    TaskSpec,
    all_waits,
)
from engine.model.ids import EntityId, EntityKind

INT = types_pb2.LiteralType(simple=types_pb2.INTEGER)
STR = types_pb2.LiteralType(simple=types_pb2.STRING)


def entity(kind: EntityKind, name: str) -> EntityId:
    return EntityId(kind, "p", "d", name, "v1")


def workflow_id(name: str) -> EntityId:
    return entity(EntityKind.WORKFLOW, name)


def list_of(item: types_pb2.LiteralType) -> types_pb2.LiteralType:
    return types_pb2.LiteralType(collection_type=item)


def interface(
    inputs: Mapping[str, types_pb2.LiteralType] | None = None,
    outputs: Mapping[str, types_pb2.LiteralType] | None = None,
) -> Interface:
    return Interface(
        {name: kind.SerializeToString() for name, kind in (inputs or {}).items()},
        {name: kind.SerializeToString() for name, kind in (outputs or {}).items()},
    )


def task(name: str, face: Interface | None = None, *, version: str = "1.16.0") -> TaskSpec:
    """A task with a container and the given interface (default: int a -> int o0)."""
    face = face or interface({"a": INT}, {"o0": INT})
    template = tasks_pb2.TaskTemplate(
        type="python-task",
        interface=interface_pb2.TypedInterface(),
        container=tasks_pb2.Container(
            image="img:1", args=["pyflyte-execute", "--inputs", "{{.input}}", "--output-prefix", "{{.outputPrefix}}"]
        ),
    )
    return TaskSpec(
        entity(EntityKind.TASK, name), "python-task", face, template.SerializeToString(), "FLYTE_SDK", version
    )


def promise(variable: str, node: str, output: str = "o0") -> Binding:
    data = literals_pb2.BindingData(promise=types_pb2.OutputReference(node_id=node, var=output))
    return Binding(variable, data.SerializeToString())


def constant(variable: str, value: int) -> Binding:
    primitive = literals_pb2.Primitive(integer=value)
    data = literals_pb2.BindingData(scalar=literals_pb2.Scalar(primitive=primitive))
    return Binding(variable, data.SerializeToString())


def node(
    node_id: str,
    target: EntityId,
    *,
    after: Sequence[str] = (),
    bindings: Sequence[Binding] = (),
    retries: int = 0,
    array: ArraySpec | None = None,
    timeout: float | None = None,
    cache: CachePolicy | None = None,
) -> NodeSpec:
    """A node whose kind follows from its target; `after` lists its predecessors."""
    kinds = {
        EntityKind.TASK: NodeKind.ARRAY if array else NodeKind.TASK,
        EntityKind.WORKFLOW: NodeKind.SUBWORKFLOW,
        EntityKind.LAUNCH_PLAN: NodeKind.ARRAY_OF_LAUNCH_PLANS if array else NodeKind.LAUNCH_PLAN,
    }
    return NodeSpec(
        id=node_id,
        kind=kinds[target.kind],
        upstream=tuple(after) or (START_NODE,),
        bindings=tuple(bindings),
        sources=_sources(bindings),
        target=target,
        retries=retries,
        timeout_seconds=timeout,
        array=array,
        cache=cache,
    )


def gate(
    node_id: str,
    what: GateSpec,
    *,
    after: Sequence[str] = (),
    bindings: Sequence[Binding] = (),
    timeout: float | None = None,
    retries: int = 0,
) -> NodeSpec:
    upstream = tuple(after) or (START_NODE,)
    return NodeSpec(
        node_id,
        NodeKind.GATE,
        upstream,
        tuple(bindings),
        _sources(bindings),
        gate=what,
        timeout_seconds=timeout,
        retries=retries,
    )


def wait_for_input(signal_id: str, kind: types_pb2.LiteralType = INT) -> GateSpec:
    return GateSpec(GateKind.SIGNAL, signal_id, kind.SerializeToString(), "o0")


def approve(signal_id: str) -> GateSpec:
    return GateSpec(GateKind.APPROVE, signal_id)


def sleep(seconds: float) -> GateSpec:
    return GateSpec(GateKind.SLEEP, seconds=seconds)


def _sources(bindings: Sequence[Binding]) -> tuple[str, ...]:
    found = set()
    for binding in bindings:
        data = literals_pb2.BindingData.FromString(binding.data)
        if data.HasField("promise"):
            found.add(data.promise.node_id or START_NODE)
    return tuple(sorted(found))


def branch(
    node_id: str,
    arms: Mapping[str, bytes],
    bodies: Sequence[NodeSpec],
    *,
    after: Sequence[str] = (),
    bindings: Sequence[Binding] = (),
    refusal: str = "",
) -> NodeSpec:
    """A conditional: `arms` gives the condition of each body, in order; an empty one is the else arm."""
    inside = Graph(workflow_id(node_id), interface(), {body.id: body for body in bodies}, {})
    spec = BranchSpec(tuple(Arm(body, condition) for body, condition in arms.items()), inside, refusal)
    sources = _sources(bindings)
    waits = tuple(sorted({*after, *sources} - {START_NODE})) or (START_NODE,)
    return NodeSpec(node_id, NodeKind.BRANCH, waits, tuple(bindings), sources, branch=spec)


def graph(
    name: str,
    nodes: Sequence[NodeSpec],
    *,
    outputs: Sequence[Binding] = (),
    face: Interface | None = None,
    policy: FailurePolicy = FailurePolicy.FAIL_IMMEDIATELY,
    failure: NodeSpec | None = None,
) -> Graph:
    """A workflow of these nodes; the end-node waits for every leaf. A failure node is told of it by its input `err`."""
    used = {upstream for spec in nodes for upstream in spec.upstream}
    leaves = [spec.id for spec in nodes if spec.id not in used] or [START_NODE]
    end_upstream = tuple(sorted({*leaves, *_sources(outputs)}))
    end = NodeSpec(END_NODE, NodeKind.END, end_upstream, tuple(outputs), _sources(outputs))
    start = NodeSpec(START_NODE, NodeKind.START, sources=(START_NODE,))
    specs = {spec.id: spec for spec in (start, *nodes, end)}
    downstream: dict[str, list[str]] = {}
    for spec in specs.values():
        for upstream in all_waits(spec):
            downstream.setdefault(upstream, []).append(spec.id)
    return Graph(
        workflow_id(name),
        face or interface(),
        specs,
        {up: tuple(sorted(down)) for up, down in downstream.items()},
        policy,
        False,
        failure and structs.replace(failure, upstream=()),
        "err" if failure and any(binding.variable == "err" for binding in failure.bindings) else "",
    )


def plan(name: str, of: Graph, *, defaults: bytes = b"", fixed: bytes = b"") -> LaunchPlanSpec:
    return LaunchPlanSpec(entity(EntityKind.LAUNCH_PLAN, name), of.id, of.interface, defaults, fixed)


def program(graphs: Sequence[Graph], tasks: Sequence[TaskSpec] = (), plans: Sequence[LaunchPlanSpec] = ()) -> Program:
    return Program(
        "digest",
        {spec.id: spec for spec in tasks},
        {spec.id: spec for spec in graphs},
        {spec.id: spec for spec in plans},
    )


def chain(length: int, **options: int) -> Program:
    """n0 -> n1 -> ... , one task."""
    work = task("work")
    nodes = [
        node(
            f"n{k}",
            work.id,
            after=[f"n{k - 1}"] if k else [],
            bindings=[promise("a", f"n{k - 1}") if k else constant("a", 1)],
            retries=options.get("retries", 0),
        )
        for k in range(length)
    ]
    last = f"n{length - 1}"
    return program([graph("wf", nodes, outputs=[promise("o0", last)], face=interface({}, {"o0": INT}))], [work])


def mapped(spec: TaskSpec) -> TaskSpec:
    """The map task over a task: list inputs, list outputs."""

    def lifted(types: Mapping[str, bytes]) -> dict[str, bytes]:
        return {
            name: list_of(types_pb2.LiteralType.FromString(kind)).SerializeToString() for name, kind in types.items()
        }

    face = Interface(lifted(spec.interface.inputs), lifted(spec.interface.outputs))
    name = structs.replace(spec.id, name=f"map_{spec.id.name}-arraynode")
    return structs.replace(spec, id=name, interface=face)
