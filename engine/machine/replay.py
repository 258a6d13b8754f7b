"""History, replayed: what the facts of one execution say its states must be, and where they contradict each other.

Takes the facts one by one and keeps a phase and an attempt a node, and two bytes a map element, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.model.phases import EXECUTION_TRANSITIONS, REOPENINGS, ExecutionPhase, NodePhase, allowed
from engine.model.state import Elements, Fact, Snapshot

_P = NodePhase
_ELEMENT_WAYS = {(_P.QUEUED, _P.ABORTED), (_P.RUNNING, _P.ABORTED), (_P.RETRYABLE_FAILURE, _P.ABORTED)}
"""What elements do beside the table: they are aborted in one step, while their node is ABORTING or FAILING."""
_REOPENED = {(old, _P.NOT_YET_STARTED) for old in REOPENINGS}
_NEXT_ATTEMPT = {(_P.RETRYABLE_FAILURE, _P.QUEUED)} | (_REOPENED - {(_P.SKIPPED, _P.NOT_YET_STARTED)})
MAX_PROBLEMS = 100
"""Kept of one execution; a damaged history would bring a problem a fact."""


class Problem(Struct, frozen=True):
    """Something that must not be, and what should be there instead."""

    what: str
    expected: str
    node: str = ""
    """Path, `n1[3]` for a map element; empty for the execution or the log itself."""
    execution: str = ""


class _Seen:
    """What the facts have said so far about one node."""

    __slots__ = ("attempt", "elements", "phase")

    def __init__(self) -> None:
        self.phase, self.attempt = _P.NOT_YET_STARTED, 0
        self.elements = bytearray()
        """Phase and attempt of each element, as many as were named."""


class Replay:
    def __init__(self) -> None:
        self.sequence = 0
        self.phase = ExecutionPhase.READY
        self.problems: list[Problem] = []
        self._nodes: dict[str, _Seen] = {}

    def take(self, facts: Iterable[Fact]) -> None:
        """The next facts, in order."""
        for fact in facts:
            if fact.sequence != self.sequence + 1:
                self._problem("", f"fact {fact.sequence} follows fact {self.sequence}", f"fact {self.sequence + 1}")
            self.sequence = fact.sequence
            try:
                self._take(fact)
            except ValueError as problem:
                self._problem(fact.path, f"fact {fact.sequence}: {problem}", "a phase of this version")

    def _take(self, fact: Fact) -> None:
        if not fact.path:
            new = ExecutionPhase(fact.phase)
            if new not in EXECUTION_TRANSITIONS.get(self.phase, ()):
                self._illegal(fact, "", self.phase.value)
            self.phase = new
            return
        if fact.phase not in NodePhase.__members__:
            raise ValueError(f"{fact.phase!r} is no phase of a node")
        seen = self._nodes.setdefault(fact.path, _Seen())
        new_phase = NodePhase[fact.phase]
        if fact.index is None:
            self._check(fact, seen.phase, seen.attempt, element=False)
            if fact.attempt != seen.attempt:
                seen.elements.clear()  # another attempt of a map has elements of its own
            seen.phase, seen.attempt = new_phase, fact.attempt
            return
        place = 2 * fact.index
        seen.elements.extend(bytes(max(place + 2 - len(seen.elements), 0)))
        self._check(fact, NodePhase(seen.elements[place]), seen.elements[place + 1], element=True)
        seen.elements[place : place + 2] = bytes((new_phase.value, min(fact.attempt, 255)))

    def _check(self, fact: Fact, old: NodePhase, attempt: int, *, element: bool) -> None:
        """One step of a node or an element: along the table, and a new attempt only after a failed one."""
        new = NodePhase[fact.phase]
        if not allowed(old, new) and (old, new) not in (_ELEMENT_WAYS if element else _REOPENED):
            self._illegal(fact, _name(fact), old.name)
        due = attempt + ((old, new) in _NEXT_ATTEMPT)
        if fact.attempt != due:
            what = f"fact {fact.sequence} says attempt {fact.attempt} is {new.name}"
            self._problem(_name(fact), what, f"attempt {due}, after attempt {attempt} was {old.name}")

    def against(self, snapshot: Snapshot) -> list[Problem]:
        """What the stored states say otherwise; after the last fact. All problems of this execution's history."""
        record = snapshot.execution
        if record.sequence != self.sequence:
            self._problem("", f"its state knows {record.sequence} facts", f"{self.sequence}, as its history has")
        if record.phase is not self.phase:
            self._problem("", f"its state is {record.phase.value}", f"{self.phase.value}, as its history ends")
        stored = {node.path: node for node in snapshot.nodes}
        for path, seen in self._nodes.items():
            node = stored.get(path)
            said = f"attempt {seen.attempt} {seen.phase.name}"
            if node is None:
                self._problem(path, "has no state", f"{said}, as its history ends")
                continue
            if (node.phase, node.attempt) != (seen.phase, seen.attempt):
                what = f"its state is attempt {node.attempt} {node.phase.name}"
                self._problem(path, what, f"{said}, as its history ends")
            self._elements(path, seen.elements, node.elements)
        for path in stored.keys() - self._nodes.keys():
            self._problem(path, f"its state is {stored[path].phase.name}", "no state: history does not know it")
        return self.problems

    def _elements(self, path: str, seen: bytearray, stored: Elements | None) -> None:
        if stored is None:
            if seen:
                self._problem(path, "has no elements", f"{len(seen) // 2} or more, as history names them")
            return
        if len(seen) > 2 * stored.size:
            self._problem(path, f"has {stored.size} elements", f"{len(seen) // 2} or more, as history names them")
        states = b"".join(stored.chunks)
        seen.extend(bytes(max(len(states) - len(seen), 0)))
        phases = bytes(byte & 15 for byte in states[::2])
        if phases == seen[::2][: len(phases)] and states[1::2] == seen[1::2][: len(phases)]:
            return
        for index, phase in enumerate(phases):
            found, said = (phase, states[2 * index + 1]), (seen[2 * index], seen[2 * index + 1])
            if found != said:
                what, expected = (f"attempt {attempt} {_phase_name(phase)}" for phase, attempt in (found, said))
                self._problem(f"{path}[{index}]", f"its state is {what}", f"{expected}, as its history ends")

    def _illegal(self, fact: Fact, node: str, old: str) -> None:
        self._problem(node, f"fact {fact.sequence}: from {old} to {fact.phase}", "a transition of the table of phases")

    def _problem(self, node: str, what: str, expected: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(what, expected, node))


def _name(fact: Fact) -> str:
    return fact.path if fact.index is None else f"{fact.path}[{fact.index}]"


def _phase_name(number: int) -> str:
    return NodePhase(number).name if number in NodePhase.__members__.values() else f"phase {number}"
