"""Recorded executions: what the log of a home keeps of one, with its package, as lines of base64 (see record.py)."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path

from engine.machine.execution import ExecutionState, plans_of
from engine.machine.rerun import Difference, Rerun
from engine.model.events import AttemptPlanned, Event
from engine.model.graph import Program
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.wire import codec
from engine.wire.compile import compile_package
from engine.wire.package import unpack
from tests.simulation import RULES

FOLDER = Path(__file__).parent / "recorded"


@dataclass
class Recording:
    packages: dict[str, Program] = field(default_factory=dict)
    events: list[tuple[int, Event]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    """The recorded one, then the one that it recovers."""
    nodes: list[list[Node]] = field(default_factory=list)

    def replayed(self) -> Difference | None:
        record = self.executions[0]
        source = None
        if len(self.executions) > 1:
            old = self.executions[1]
            source = ExecutionState.of(old, self.packages[old.package], self.nodes[1], self._plans(self.nodes[1]))
        plans = {event.plan for _, event in self.events if isinstance(event, AttemptPlanned)}
        known = {digest: self.packages[digest] for digest in plans}
        rerun = Rerun(self.packages[record.package], known, source, self.facts, RULES)
        rerun.take(self.events)
        return rerun.finish(Snapshot(record, tuple(self.nodes[0])))

    def _plans(self, nodes: list[Node]) -> dict[str, Program]:
        return {digest: self.packages[digest] for digest in plans_of(nodes)}


def read(name: str) -> Recording:
    found = Recording()
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        kind, text = line.split(" ")
        data = base64.b64decode(text)
        match kind:
            case "package":
                program = compile_package(unpack(data, name)).program
                found.packages[program.digest] = program
            case "event":
                event = codec.unpack_event(data)
                assert isinstance(event, Event)
                found.events.append((len(found.events) + 1, event))
            case "fact":
                found.facts.append(codec.unpack_fact(data))
            case "execution":
                found.executions.append(codec.unpack_execution(data))
                found.nodes.append([])
            case "node":
                found.nodes[-1].append(codec.unpack_node(data))
    return found
