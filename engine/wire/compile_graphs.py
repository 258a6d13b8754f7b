"""Compiles one workflow into a graph: nodes, edges, start and end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from flyteidl.core.workflow_pb2 import WorkflowMetadata, WorkflowTemplate
from msgspec import structs

from engine.model.graph import END_NODE, START_NODE, FailurePolicy, Graph, Interface, NodeKind, NodeSpec, all_waits
from engine.model.ids import NODE_ID, EntityId
from engine.wire.built import Built, bindings_of, source_ids, with_times
from engine.wire.check_bindings import Scope, binding_problems, node_problems
from engine.wire.compile_failures import compile_failure_node, error_input
from engine.wire.compile_nodes import Targets, build_node
from engine.wire.cycles import cycles
from engine.wire.interfaces import NodeInterface
from engine.wire.problems import Report

_SHOWN = 10
"""Cycles that are reported, and nodes of a cycle that a message lists."""


def compile_graph(template: WorkflowTemplate, id: EntityId, targets: Targets, report: Report) -> Graph:
    """The graph of a workflow, as far as it can be built; everything wrong with it goes to the report."""
    interface = targets.workflows[id]
    built = _build(template, id, targets, report)
    nodes = _specs(template, interface, built)
    _check(template, id, built, interface, report)
    interruptible = template.metadata_defaults.interruptible
    graph = Graph(id, interface, nodes, _downstream(nodes), _failure_policy(template), interruptible)
    if not template.HasField("failure_node"):
        return graph
    failure = compile_failure_node(template, id, interface, build_node(template.failure_node, targets), report)
    return structs.replace(graph, failure=failure.spec, error_input=error_input(failure))


def _build(template: WorkflowTemplate, id: EntityId, targets: Targets, report: Report) -> dict[str, Built]:
    """The nodes by id; of two with the same id the first stays."""
    built: dict[str, Built] = {}
    for node in template.nodes:
        if node.id in built:
            report.wrong(id, ["two nodes of this workflow have this id"], node.id)
            continue
        if node.id in (START_NODE, END_NODE):
            report.wrong(id, ["this id is the engine's own; give the node another name"], node.id)
        elif not NODE_ID.match(node.id):
            report.wrong(id, [f"the node id {node.id!r} may hold only letters, digits, '.', '_' and '-'"])
        built[node.id] = build_node(node, targets)
    return built


def _specs(template: WorkflowTemplate, interface: Interface, built: Mapping[str, Built]) -> dict[str, NodeSpec]:
    """The nodes of the template between a start-node and an end-node."""
    specs = {key: node.spec for key, node in built.items()}
    waited_for = {upstream for spec in specs.values() for upstream in spec.upstream}
    sources = source_ids(given.binding for given in template.outputs)
    waits = ({key for key in specs if key not in waited_for} | {*sources}) - {START_NODE}
    end = NodeSpec(
        END_NODE,
        NodeKind.END,
        upstream=tuple(sorted(waits)) or (START_NODE,),
        bindings=with_times(bindings_of((given.var, given.binding) for given in template.outputs), interface.outputs),
        sources=sources,
    )
    start = NodeSpec(START_NODE, NodeKind.START, sources=(START_NODE,))
    return {START_NODE: start, **specs, END_NODE: end}


def _downstream(nodes: Mapping[str, NodeSpec]) -> dict[str, tuple[str, ...]]:
    """Who waits for a node, in the order of the template; a branch, too, for what its arms wait for."""
    found: dict[str, list[str]] = {key: [] for key in nodes}
    for key, spec in nodes.items():
        for upstream in all_waits(spec):
            if upstream in found:
                found[upstream].append(key)
    return {key: tuple(waiting) for key, waiting in found.items()}


def _failure_policy(template: WorkflowTemplate) -> FailurePolicy:
    if template.metadata.on_failure == WorkflowMetadata.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE:
        return FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    return FailurePolicy.FAIL_IMMEDIATELY


def _check(
    template: WorkflowTemplate, id: EntityId, built: Mapping[str, Built], interface: Interface, report: Report
) -> None:
    scope = Scope(interface.inputs, {key: node.interface for key, node in built.items()})
    for key, node in built.items():
        report.wrong(id, node.wrong, key)
        for reason in node.lacks:
            report.lacks(id, reason, key)
        report.wrong(id, _edge_problems(node, built), key)
        report.wrong(id, node_problems(node, scope), key)
    outputs = NodeInterface(interface.outputs)
    report.wrong(id, binding_problems(template.outputs, outputs, scope, END_NODE, "output"))
    report.wrong(id, _cycle_problems(built))


def _edge_problems(node: Built, built: Mapping[str, Built]) -> Iterator[str]:
    """Nodes that it waits for, but that do not exist. A data source that is missing is the binding's problem."""
    left = [(node, "")]
    while left:
        one, place = left.pop()
        for upstream in one.spec.upstream:
            if upstream in one.spec.sources or upstream == START_NODE:
                continue
            if upstream not in built:
                yield f"{place}it waits for node {upstream}, which does not exist"
            elif one is not node and upstream == node.spec.id:
                yield f"{place}it waits for its own conditional"
        left += [(body, f"{place}body {body.spec.id}: ") for body in reversed(one.bodies)]


def _cycle_problems(built: Mapping[str, Built]) -> Iterator[str]:
    # A body that waits for its own conditional is told of with the body.
    found = cycles({key: [*node.spec.upstream, *(all_waits(node.spec) - {key})] for key, node in built.items()})
    for cycle in islice(found, _SHOWN):
        if len(cycle) == 1:
            yield f"node {cycle[0]} waits for itself"
        else:
            more = f" ... ({len(cycle)} nodes)" if len(cycle) > _SHOWN else f" -> {cycle[0]}"
            yield f"its nodes wait for each other in a cycle: {' -> '.join(cycle[:_SHOWN])}{more}"
