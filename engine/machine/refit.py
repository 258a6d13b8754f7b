"""Whether a node of a mended workflow is the one that ran in the execution that is recovered.

What succeeded there holds here where the same would run on the same inputs: a node of the same id and kind, of a task,
workflow or launch plan of the same name and interface, with its inputs bound to the same. Its code may have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.model.graph import END_NODE, START_NODE, Graph, Interface, NodeKind, NodeSpec, Program
from engine.model.ids import ROOT_FRAME, EntityId, inner_frame, join
from engine.model.phases import SATISFIED

if TYPE_CHECKING:
    from engine.machine.execution import ExecutionState
    from engine.model.state import Node

_CHILDREN = (NodeKind.LAUNCH_PLAN, NodeKind.ARRAY_OF_LAUNCH_PLANS)
_BOUNDARY = (START_NODE, END_NODE)


def misfits(source: ExecutionState, mended: ExecutionState) -> Iterator[str]:
    """A line for each node that succeeded in the source and can't be taken over, and for each input that differs.

    `mended`: the execution as it would begin, of the mended program.
    """
    old, new = source.frame(ROOT_FRAME).graph, mended.frame(ROOT_FRAME).graph
    for change in _types("input", old.interface.inputs, new.interface.inputs):
        yield f"{change}: the new execution has the inputs of the old one"
    yield from _inside(source, mended, ROOT_FRAME, ROOT_FRAME)


def _inside(source: ExecutionState, mended: ExecutionState, there: str, here: str) -> Iterator[str]:
    for node_id in source.frame(there).graph.nodes:
        node = source.nodes.get(join(there, node_id))
        if node is None or node_id in _BOUNDARY:
            continue
        why = change(source, mended, there, here, node)
        if node.phase in SATISFIED and why:
            yield f"node {node.path}, which has succeeded, {why}"
        elif node.framed and not node.plan and not why and node.phase not in SATISFIED:
            yield from _inside(
                source, mended, inner_frame(node.path, node.attempt), inner_frame(join(here, node_id), 0)
            )


def change(source: ExecutionState, mended: ExecutionState, there: str, here: str, node: Node) -> str:
    """Why nothing of a node is taken over, as what follows its name; "" = it fits.

    `there` and `here`: the frames that it is in. A child execution that has not succeeded must have the same graph.
    """
    before, node_id = source.frame(there), node.path.rpartition("/")[2]
    try:
        after = mended.frame(here)
        old, new = before.spec(node_id), after.spec(node_id)
    except KeyError:
        return "is not there any more"
    if why := _changed(before.program, old, after.program, new):
        return why
    if new.kind in _CHILDREN and node.phase not in SATISFIED:
        return _child_changed(before.program, old.target, after.program, new.target, set())
    return ""


def _changed(before: Program, old: NodeSpec, after: Program, new: NodeSpec) -> str:
    if old.kind is not new.kind:
        return f"is a {new.kind.value} now, and was a {old.kind.value}"
    if _name(old.target) != _name(new.target):
        return f"runs {_name(new.target)} now, and ran {_name(old.target)}"
    faces = _interface(before, old.target), _interface(after, new.target)
    found = [
        *_types("input", faces[0].inputs, faces[1].inputs),
        *_types("output", faces[0].outputs, faces[1].outputs),
    ]
    if found:
        return f"runs {_name(new.target)} of another interface: {', '.join(found)}"
    bound = {it.variable: it.data for it in old.bindings}, {it.variable: it.data for it in new.bindings}
    if bound[0] != bound[1] or _shape(before, old) != _shape(after, new):
        names = sorted(name for name in {*bound[0], *bound[1]} if bound[0].get(name) != bound[1].get(name))
        return f"has other inputs{': ' if names else ''}{', '.join(names)}"
    return _branch_changed(before, old, after, new)


def _shape(program: Program, spec: NodeSpec) -> tuple[object, ...]:
    """What else decides what a node runs on."""
    plan = program.launch_plans.get(spec.target) if spec.target else None
    array = spec.array and (spec.array.bound_inputs, spec.array.original_interface)
    return spec.gate, array, plan and (plan.defaults, plan.fixed)


def _branch_changed(before: Program, old: NodeSpec, after: Program, new: NodeSpec) -> str:
    if old.branch is None or new.branch is None:
        return ""
    if old.branch.arms != new.branch.arms:
        return "has other conditions"
    return _graph_changed(before, old.branch.graph, after, new.branch.graph, None)


def _child_changed(
    before: Program, old: EntityId | None, after: Program, new: EntityId | None, seen: set[EntityId]
) -> str:
    """Of a launch plan or workflow and all that it runs. `seen`: launch plans may run each other."""
    if old is None or new is None or new in seen:
        return ""
    seen.add(new)
    if old in before.launch_plans and new in after.launch_plans:
        plans = before.launch_plans[old], after.launch_plans[new]
        if plans[0].package != plans[1].package:
            return f"runs {new.name} of another package"
        return _child_changed(before, plans[0].workflow, after, plans[1].workflow, seen)
    if old in before.workflows and new in after.workflows:
        return _graph_changed(before, before.workflows[old], after, after.workflows[new], seen)
    return ""


def _graph_changed(before: Program, old: Graph, after: Program, new: Graph, seen: set[EntityId] | None) -> str:
    """`seen`: also what the nodes contain; None: only the nodes themselves."""
    if old.nodes.keys() != new.nodes.keys():
        return f"runs {new.id.name}, which has other nodes now"
    for node_id, spec in old.nodes.items():
        other = new.nodes[node_id]
        why = _changed(before, spec, after, other)
        if not why and seen is not None:
            why = _child_changed(before, spec.target, after, other.target, seen)
        if why:
            return f"runs {new.id.name}, where node {node_id} {why}"
    return ""


def _name(target: EntityId | None) -> str:
    return target.name if target else "nothing"


def _interface(program: Program, target: EntityId | None) -> Interface:
    if target is None:
        return Interface()
    known = program.tasks.get(target) or program.workflows.get(target) or program.launch_plans.get(target)
    return known.interface if known is not None else Interface()


def _types(what: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    words = dict.fromkeys(new.keys() - old.keys(), "is new") | dict.fromkeys(old.keys() - new.keys(), "is gone")
    words |= {name: "has another type" for name in old.keys() & new.keys() if old[name] != new[name]}
    return [f"{what} {name!r} {words[name]}" for name in sorted(words)]
