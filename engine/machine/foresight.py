"""What a recovery would do with every node, and why: told from the states of the execution that would be recovered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from engine.machine.execution import ExecutionState, Frame
from engine.machine.refit import change
from engine.model.graph import START_NODE, NodeKind, NodeSpec, TaskSpec
from engine.model.ids import ROOT_FRAME, inner_frame, join, owner
from engine.model.phases import SATISFIED, NodePhase
from engine.model.state import Node


class Fate(StrEnum):
    REUSED = "reused"
    CACHED = "cached"
    """It did not succeed there, but the cache has its result."""
    CONTINUED = "goes on"
    """What is inside is recovered node by node."""
    RUN = "must run"


class Lookup(Struct, frozen=True):
    """A task that may be cached, with where its inputs come from, as an effect has them."""

    spec: NodeSpec
    task: TaskSpec
    sources: Mapping[str, str]


class Prospect(Struct, frozen=True):
    path: str
    """In the new execution: containers begin with their first attempt."""
    fate: Fate
    why: str
    lookup: Lookup | None = None
    """For the cache, if all inputs are known by now."""


def foreseen(source: ExecutionState, mended: ExecutionState | None = None) -> Iterator[Prospect]:
    """Every node that an author wrote, as far as the source has opened the graphs; what contains others first.

    `mended`: the execution as it would begin, where it is of another package.
    """
    yield from _inside(source, mended, ROOT_FRAME, ROOT_FRAME)


def _inside(source: ExecutionState, mended: ExecutionState | None, there: str, here: str) -> Iterator[Prospect]:
    frame = source.frame(there) if mended is None else mended.frame(here)
    choice = _choice(source, there)
    for node_id, spec in frame.graph.nodes.items():
        if spec.kind in (NodeKind.START, NodeKind.END) or (choice and node_id != choice):
            continue
        node = source.nodes.get(join(there, node_id))
        path = join(here, node_id)
        why = change(source, mended, there, here, node) if node is not None and mended is not None else ""
        if why:
            yield Prospect(path, Fate.RUN, f"it {why}")
        elif node is not None and mended is not None and node.plan and node.phase not in SATISFIED:
            yield Prospect(path, Fate.RUN, f"it {_ended(node)}; of a mended workflow its task plans again")
        elif node is not None and node.framed and node.phase not in SATISFIED:
            yield Prospect(path, Fate.CONTINUED, _opened(node))
            yield from _inside(source, mended, inner_frame(node.path, node.attempt), inner_frame(path, 0))
        else:
            yield _alone(source, frame, source.frame(there).scope, spec, node, path)


def _alone(source: ExecutionState, frame: Frame, scope: str, spec: NodeSpec, node: Node | None, path: str) -> Prospect:
    """`scope`: the frame of the source that its promises mean."""
    if node is not None and node.phase in SATISFIED:
        return Prospect(path, Fate.REUSED, f"it {'was ' if node.phase is NodePhase.RECOVERED else ''}{node.phase.name}")
    if node is not None and node.kind is NodeKind.LAUNCH_PLAN and node.queued_at:
        return Prospect(path, Fate.CONTINUED, f"its child execution {_ended(node)}, and is recovered itself")
    lookup = None
    if spec.cache is not None and spec.kind is NodeKind.TASK:
        sources = _known_sources(source, scope, spec)
        lookup = None if sources is None else Lookup(spec, frame.program.task(spec.target), sources)
    return Prospect(path, Fate.RUN, _why(node), lookup)


def _why(node: Node | None) -> str:
    if node is None or node.phase is NodePhase.NOT_YET_STARTED:
        return "it had not been started"
    elements = node.elements
    if elements is not None and elements.succeeded:
        left = elements.size - elements.succeeded
        verb = "is" if elements.succeeded == 1 else "are"
        return f"{left:,} of its {elements.size:,} elements; {elements.succeeded:,} {verb} reused"
    return f"it {_ended(node)}"


def _opened(node: Node) -> str:
    plan = "; its task does not plan again" if node.plan else ""
    return f"it {_ended(node)}{plan}"


def _ended(node: Node) -> str:
    match node.phase:
        case NodePhase.FAILED | NodePhase.TIMED_OUT:
            code = f": {node.error.code}" if node.error else ""
            return f"{node.phase.name}{code}"
        case _:
            return f"was {node.phase.name}"


def _choice(source: ExecutionState, prefix: str) -> str:
    containing = owner(prefix)
    return source.nodes[containing].choice if containing else ""


def _known_sources(source: ExecutionState, scope: str, spec: NodeSpec) -> dict[str, str] | None:
    """Where each input comes from, if all come from nodes that are reused; None otherwise."""
    found = {}
    for name in spec.sources:
        if name == START_NODE:
            containing = owner(scope)
            found[name] = source.nodes[containing].inputs_uri if containing else source.record.inputs_uri
            continue
        node = source.nodes.get(join(scope, name))
        if node is None or node.phase not in SATISFIED:
            return None
        found[name] = node.outputs_uri
    return found
