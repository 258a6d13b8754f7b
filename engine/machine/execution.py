"""One execution as the engine holds it in memory, and its frames: each graph that is being executed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct

from engine.model.effects import Effect
from engine.model.events import Event
from engine.model.graph import Graph, NodeSpec, Program
from engine.model.ids import ROOT_FRAME, owner, split
from engine.model.state import Execution, Fact, Node


class Frame(Struct, frozen=True):
    """One graph being executed: `prefix` is "" for the execution's own workflow, `n2/0` inside sub-workflow node n2."""

    prefix: str
    graph: Graph
    owner: str | None


class Step(Struct, frozen=True):
    """What one event did to one execution. Nothing of it counts until `ExecutionState.absorb`."""

    record: Execution
    nodes: dict[str, Node]
    facts: list[Fact]
    effects: list[Effect]
    events: list[Event]
    stale: bool = False


@dataclass(slots=True)
class ExecutionState:
    record: Execution
    program: Program
    nodes: dict[str, Node] = field(default_factory=dict)
    live: dict[str, None] = field(default_factory=dict)
    """Paths of the live nodes, in the order in which they became live. Derived from `nodes`."""
    frames: dict[str, Frame] = field(default_factory=dict)
    """Derived: found once, kept."""

    @classmethod
    def of(cls, record: Execution, program: Program, nodes: Iterable[Node] = ()) -> ExecutionState:
        state = cls(record, program)
        for node in nodes:
            state.nodes[node.path] = node
            if node.live:
                state.live[node.path] = None
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

    def frame(self, prefix: str) -> Frame:
        """Raises KeyError when the path names nothing in the program."""
        found = self.frames.get(prefix)
        if found is None:
            found = self.frames[prefix] = self._find(prefix)
        return found

    def _find(self, prefix: str) -> Frame:
        if prefix == ROOT_FRAME:
            return Frame(prefix, self.program.workflows[self.record.workflow], None)
        containing = owner(prefix)
        assert containing is not None
        target = self.spec(containing).target
        if target is None:
            raise KeyError(prefix)
        return Frame(prefix, self.program.workflows[target], containing)

    def spec(self, path: str) -> NodeSpec:
        """Raises KeyError when there is no such node."""
        prefix, node_id = split(path)
        return self.frame(prefix).graph.nodes[node_id]
