"""One execution as the engine holds it in memory, and its frames: each graph that is being executed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from engine.machine.places import takes_place
from engine.model.effects import Effect
from engine.model.events import Event
from engine.model.graph import Graph, NodeKind, NodeSpec, Program
from engine.model.ids import ROOT_FRAME, inner_frame, join, owner, split
from engine.model.phases import EXECUTION_CLOSING, ExecutionPhase
from engine.model.state import Execution, Fact, Node

_NONE: Mapping[str, Node] = {}
_NO_PLANS: Mapping[str, Program] = {}


class Frame(Struct, frozen=True):
    """One graph being executed: `prefix` is "" for the execution's own workflow, `n2/0` inside sub-workflow node n2."""

    prefix: str
    graph: Graph
    owner: str | None
    program: Program
    """Where the targets of its nodes are found: the plan, inside a @dynamic task."""
    scope: str
    """The frame that its nodes' promises and upstream ids mean: for what a branch chooses from, the one around the
    (outermost) branch; else itself."""
    interruptible: bool
    """What holds for its nodes that say nothing."""

    def spec(self, node_id: str) -> NodeSpec:
        """Raises KeyError when there is no such node."""
        failure = self.graph.failure
        if failure is not None and failure.id == node_id:
            return failure
        return self.graph.nodes[node_id]

    @property
    def cleanup(self) -> str:
        """The path of its failure node; empty if it has none."""
        return join(self.prefix, self.graph.failure.id) if self.graph.failure else ""


class Step(Struct, frozen=True):
    """What one event did to one execution. Nothing of it counts until `ExecutionState.absorb`."""

    record: Execution
    nodes: dict[str, Node]
    facts: list[Fact]
    effects: list[Effect]
    events: list[Event]
    stale: bool = False
    refusal: str = ""
    """Why what the event asks for can't be done; the event goes to the dead letters."""
    held: Sequence[str] = ()
    """Nodes that are ready and found no place."""
    freed: int = 0
    """Of those that had found none before: so many have had their turn."""
    busy: int = 0
    """How many take one now."""
    crowds: Mapping[str, int] = {}
    """By how many the live nodes of a frame have become more, by its prefix."""


@dataclass(slots=True)
class ExecutionState:
    record: Execution
    program: Program
    nodes: dict[str, Node] = field(default_factory=dict)
    live: dict[str, None] = field(default_factory=dict)
    """Paths of the live nodes, in the order in which they became live. Derived from `nodes`."""
    frames: dict[str, Frame] = field(default_factory=dict)
    """Derived: found once, kept."""
    passed: dict[str, int] = field(default_factory=dict)
    """How many upstream nodes of a waiting node, from the first on, were seen to have ended: so that a node that waits
    for thousands does not look at each of them whenever one ends. Derived."""
    plans: dict[str, Program] = field(default_factory=dict)
    """What @dynamic tasks have written, by digest. Loaded before a node that names one is looked at."""

    source: ExecutionState | None = None
    """The execution that this one recovers."""
    fits: dict[str, bool] = field(default_factory=dict)
    """Whether a node of the source, by its path there, is the same in this one's program. Derived."""
    crowds: dict[str, int] = field(default_factory=dict)
    """How many nodes of a frame are live, those of the frames inside it left out, by its prefix. Derived."""
    busy: int = 0
    """Nodes that take a place (engine.machine.places). Derived."""
    held: deque[str] = field(default_factory=deque)
    """Nodes that are ready and wait for a place, in this order. Derived: `step.resume` finds them again."""

    @classmethod
    def of(
        cls,
        record: Execution,
        program: Program,
        nodes: Iterable[Node] = (),
        plans: Mapping[str, Program] = _NO_PLANS,
        source: ExecutionState | None = None,
    ) -> ExecutionState:
        state = cls(record, program, plans={**(source.plans if source else {}), **plans}, source=source)
        for node in nodes:
            state.nodes[node.path] = node
            if node.live:
                state.live[node.path] = None
                state.busy += takes_place(node)
                prefix, _ = split(node.path)
                state.crowds[prefix] = state.crowds.get(prefix, 0) + 1
        return state

    def absorb(self, step: Step) -> None:
        """Make a step's changes the execution's own."""
        self.record = step.record
        for path, node in step.nodes.items():
            self.nodes[path] = node
            if node.live:
                self.live[path] = None
            else:
                self.live.pop(path, None)
        self.busy = step.busy
        for prefix, more in step.crowds.items():
            self.crowds[prefix] = self.crowds.get(prefix, 0) + more
        for _ in range(step.freed):
            self.held.popleft()
        self.held.extend(step.held)

    def frame(self, prefix: str, fresh: Mapping[str, Node] = _NONE) -> Frame:
        """`fresh` holds nodes that are newer than the state's own.

        Raises KeyError when the path names nothing in the program, and when it leads into a plan that is not loaded.
        """
        found = self.frames.get(prefix)
        return found if found is not None else self._find(prefix, fresh)

    def _find(self, prefix: str, fresh: Mapping[str, Node]) -> Frame:
        """From the nearest frame that is known, inwards."""
        missing: list[str] = []
        while prefix not in self.frames:
            missing.append(prefix)
            containing = owner(prefix)
            if containing is None:
                break
            prefix, _ = split(containing)
        for prefix in reversed(missing):
            self.frames[prefix] = self._inside(prefix, fresh)
        return self.frames[prefix]

    def _inside(self, prefix: str, fresh: Mapping[str, Node]) -> Frame:
        containing = owner(prefix)
        if containing is None:
            graph = self.program.workflows[self.record.workflow]
            return Frame(prefix, graph, None, self.program, prefix, graph.interruptible)
        outer, node_id = split(containing)
        around = self.frames[outer]
        spec, program = around.spec(node_id), around.program
        if spec.branch is not None:
            return Frame(prefix, spec.branch.graph, containing, program, around.scope, around.interruptible)
        target = spec.target
        if spec.kind is not NodeKind.SUBWORKFLOW:
            program = self._plan(containing, prefix, fresh)
            target = program.root
        if target is None:
            raise KeyError(prefix)
        graph = program.workflows[target]
        return Frame(prefix, graph, containing, program, prefix, graph.interruptible or around.interruptible)

    def _plan(self, path: str, prefix: str, fresh: Mapping[str, Node]) -> Program:
        """What the attempt of a @dynamic task wrote that opened the frame."""
        node = fresh.get(path) or self.nodes.get(path)
        if node is None or inner_frame(path, node.attempt) != prefix or node.plan not in self.plans:
            raise KeyError(f"{prefix}: no plan is loaded for this attempt of node {path}")
        return self.plans[node.plan]

    def spec(self, path: str, fresh: Mapping[str, Node] = _NONE) -> NodeSpec:
        """Raises KeyError when there is no such node."""
        prefix, node_id = split(path)
        return self.frame(prefix, fresh).spec(node_id)


def plans_of(nodes: Iterable[Node]) -> list[str]:
    """Digests of the plans that nodes name, each once."""
    return list(dict.fromkeys(node.plan for node in nodes if node.plan))


def open_frames(state: ExecutionState) -> Iterator[str]:
    """Prefixes of the frames in which nodes may start."""
    if state.record.phase is not ExecutionPhase.READY and state.record.phase not in EXECUTION_CLOSING:
        yield ROOT_FRAME
    for path, node in state.nodes.items():
        if node.open:
            yield inner_frame(path, node.attempt)


def startable(state: ExecutionState, prefix: str) -> Iterable[str]:
    """Ids of the nodes that may ever start in a frame: all, but of a branch only what it has chosen."""
    containing = owner(prefix)
    choice = state.nodes[containing].choice if containing else ""
    return (choice,) if choice else state.frame(prefix).graph.nodes


def past(state: ExecutionState, path: str) -> bool:
    """Whether a node belongs to an earlier attempt of one that contains it: over, whatever its phase says."""
    frame, _ = split(path)
    while (containing := owner(frame)) is not None:
        outer = state.nodes.get(containing)
        if outer is not None and frame != inner_frame(containing, outer.attempt):
            return True
        frame, _ = split(containing)
    return False
