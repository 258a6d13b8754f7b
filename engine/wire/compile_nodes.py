"""Compiles one node: its kind, what it runs, what it waits for, what it takes and gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from flyteidl.core.workflow_pb2 import Node
from msgspec import structs

from engine.model.graph import (
    START_NODE,
    GateKind,
    GateSpec,
    Interface,
    LaunchPlanSpec,
    NodeKind,
    NodeSpec,
)
from engine.model.ids import EntityId, EntityKind
from engine.wire.built import Built, bindings_of, source_ids, with_times
from engine.wire.compile_arrays import array_interface, array_problems, array_spec
from engine.wire.compile_branches import build_branch
from engine.wire.compile_cache import Caching, caching_of_node
from engine.wire.compile_legacy_maps import LEGACY_MAP
from engine.wire.compile_plans import plan_interface
from engine.wire.compile_tasks import ECHO, CompiledTask, Policy, policy_of
from engine.wire.interfaces import NodeInterface, dump_type, entity_id


@dataclass(frozen=True, slots=True)
class Targets:
    """What the nodes of a package can refer to."""

    home: tuple[str, str, str]
    """The package's own project, domain and version: a reference elsewhere is not a mistake of its author."""
    tasks: Mapping[EntityId, CompiledTask]
    workflows: Mapping[EntityId, Interface]
    plans: Mapping[EntityId, LaunchPlanSpec]

    def absence(self, target: EntityId) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of a target that the package does not hold: what is wrong with the package, what this engine lacks."""
        if (target.project, target.domain, target.version) == self.home:
            return (f"it runs the {target}, which is not in the package",), ()
        place = f"{target.project}/{target.domain}, version {target.version}"
        return (), (f"it runs the {target} of {place}, which is not in this package",)


def build_node(node: Node, targets: Targets) -> Built:
    """Never raises: a node that can't be understood comes with the reason in `wrong`."""
    built = _build(node, targets)
    bindings = with_times(built.spec.bindings, built.interface.inputs)
    return replace(built, spec=structs.replace(built.spec, bindings=bindings))


def _build(node: Node, targets: Targets) -> Built:
    match node.WhichOneof("target"):
        case "task_node":
            return _task(node, targets)
        case "workflow_node":
            return _workflow(node, targets)
        case "array_node":
            return _array(node, targets)
        case "branch_node":
            return build_branch(
                node, _spec(node, NodeKind.BRANCH), targets.home, lambda body: build_node(body, targets)
            )
        case "gate_node":
            return _gate(node)
        case _:
            return Built(node, _spec(node, NodeKind.TASK), wrong=("it runs nothing: neither task nor workflow",))


def _spec(node: Node, kind: NodeKind, target: EntityId | None = None, policy: Policy | None = None) -> NodeSpec:
    policy = policy or policy_of(node.metadata)
    sources = source_ids(given.binding for given in node.inputs)
    waits = {*node.upstream_node_ids, *sources} - {START_NODE, ""}
    return NodeSpec(
        id=node.id,
        kind=kind,
        upstream=tuple(sorted(waits)) or (START_NODE,),
        bindings=bindings_of((given.var, given.binding) for given in node.inputs),
        sources=sources,
        name=node.metadata.name,
        target=target,
        retries=policy.retries,
        timeout_seconds=policy.timeout_seconds,
        interruptible=policy.interruptible,
    )


def _missing(node: Node, kind: NodeKind, target: EntityId, targets: Targets) -> Built:
    """A node whose target the package does not hold: its interface is not known."""
    wrong, lacks = targets.absence(target)
    return Built(node, _spec(node, kind, target), wrong=wrong, lacks=lacks)


def _task(node: Node, targets: Targets) -> Built:
    target = entity_id(node.task_node.reference_id, EntityKind.TASK)
    task = targets.tasks.get(target)
    if task is None:
        return _missing(node, NodeKind.TASK, target, targets)
    # A task without outputs has nothing to keep.
    caching = caching_of_node(node.metadata).over(task.caching) if task.spec.interface.outputs else Caching()
    kind = NodeKind.TASK if task.array is None else NodeKind.ARRAY
    spec = structs.replace(
        _spec(node, kind, target, policy_of(node.metadata).over(task.policy)),
        array=task.array,
        cache=caching.policy(),
        overrides=node.task_node.overrides.SerializeToString(deterministic=True),
    )
    wrong = ("its results are to be cached, but no cache version is given",) if caching.lacks_version else ()
    return Built(node, spec, NodeInterface(task.spec.interface.inputs, task.spec.interface.outputs), wrong)


def _workflow(node: Node, targets: Targets) -> Built:
    if node.workflow_node.WhichOneof("reference") == "launchplan_ref":
        target = entity_id(node.workflow_node.launchplan_ref, EntityKind.LAUNCH_PLAN)
        plan = targets.plans.get(target)
        if plan is None:
            return _missing(node, NodeKind.LAUNCH_PLAN, target, targets)
        return Built(node, _spec(node, NodeKind.LAUNCH_PLAN, target), plan_interface(plan))
    target = entity_id(node.workflow_node.sub_workflow_ref, EntityKind.WORKFLOW)
    workflow = targets.workflows.get(target)
    if workflow is None:
        return _missing(node, NodeKind.SUBWORKFLOW, target, targets)
    return Built(node, _spec(node, NodeKind.SUBWORKFLOW, target), NodeInterface(workflow.inputs, workflow.outputs))


def _array(node: Node, targets: Targets) -> Built:
    """Element policy and target stand on the inner node; what is bound stands on both."""
    inner = node.array_node.node
    match inner.WhichOneof("target"):
        case "task_node":
            element, kind = _task(inner, targets), NodeKind.ARRAY
        case "workflow_node" if inner.workflow_node.WhichOneof("reference") == "launchplan_ref":
            element, kind = _workflow(inner, targets), NodeKind.ARRAY_OF_LAUNCH_PLANS
        case _:
            neither = "it maps over something that is neither a task nor a launch plan"
            return Built(node, _spec(node, NodeKind.ARRAY), wrong=(neither,))
    policy = Policy(element.spec.retries, element.spec.timeout_seconds, element.spec.interruptible)
    spec = structs.replace(
        _spec(node, kind, element.spec.target, policy),
        array=array_spec(node.array_node),
        cache=element.spec.cache,
        overrides=element.spec.overrides,
        detail=f"a map over the {element.spec.target}",
    )
    interface = array_interface(node.array_node, element.interface)
    wrong = (*element.wrong, *array_problems(node.array_node, element.interface))
    return Built(node, spec, interface, wrong, (*element.lacks, *_unmapped(element, targets)))


def _unmapped(element: Built, targets: Targets) -> Iterator[str]:
    """Tasks that no SDK maps: what they are given is not in the form of an element's inputs."""
    task = targets.tasks.get(element.spec.target) if element.spec.target is not None else None
    if task is not None and (task.spec.type == ECHO or task.spec.raw_container or task.array is not None):
        kind = LEGACY_MAP if task.array is not None else task.spec.type
        yield f"it maps over a task of type {kind!r}, which can't be an element of a map"


def _gate(node: Node) -> Built:
    message, spec = node.gate_node, _spec(node, NodeKind.GATE)
    outputs: dict[str, bytes | None] = {}
    match message.WhichOneof("condition"):
        case "signal":
            kind = dump_type(message.signal.type)
            gate = GateSpec(GateKind.SIGNAL, message.signal.signal_id, kind, message.signal.output_variable_name)
            outputs[gate.variable] = kind
        case "approve":
            gate = GateSpec(GateKind.APPROVE, message.approve.signal_id)
            outputs = {given.var: None for given in node.inputs}
        case "sleep":
            length = message.sleep.duration
            gate = GateSpec(GateKind.SLEEP, seconds=length.seconds + length.nanos / 1e9)
        case _:
            return Built(node, spec, wrong=("it is a gate without a condition: neither signal nor approval nor sleep",))
    return Built(node, structs.replace(spec, gate=gate), NodeInterface(outputs=outputs))
