"""Histories of many executions, told one among another: each is replayed, and compared with its state at the end.

Holds a replay for each execution whose state has not been reached; of the others only how far they have come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from engine.machine.replay import Problem, Replay
from engine.model.ids import ExecutionId
from engine.model.phases import EXECUTION_TERMINAL, ExecutionPhase
from engine.model.state import Fact, Snapshot

Tell = Callable[[ExecutionId, Problem], None]


class _Run:
    """One run of a name."""

    __slots__ = ("ended", "found", "replay", "sequence")

    def __init__(self, replay: Replay | None) -> None:
        self.replay = replay
        """None: its first facts are gone, or it was compared and is as it should be."""
        self.sequence = 0
        self.ended = False
        self.found: list[Problem] | None = None
        """What the comparison with the state gave."""


class Histories:
    """known: of each execution that has a state, how many facts that knows.

    state: gives the state itself; None where it can't be read, which somebody else tells. whole: the first facts of all
    executions are still there.
    """

    def __init__(
        self,
        known: Mapping[ExecutionId, int],
        state: Callable[[ExecutionId], Snapshot | None],
        tell: Tell,
        *,
        whole: bool,
    ) -> None:
        self._known, self._state, self._tell, self._whole = known, state, tell, whole
        self._runs: dict[ExecutionId, _Run] = {}
        self._agreed: set[ExecutionId] = set()
        """Executions whose state is what the facts say; one more run of the name may follow."""

    def take(self, fact: Fact) -> None:
        """The next fact of its execution. Answers to requests (number 0) are none."""
        execution = fact.execution
        run = self._runs.get(execution)
        if run is None or fact.sequence == 1:
            # The name is used again: what there was before has no state any more.
            run = self._runs[execution] = _Run(Replay() if self._whole or fact.sequence == 1 else None)
        run.sequence = fact.sequence
        if not fact.path:
            with suppress(ValueError):  # which the replay tells
                run.ended = ExecutionPhase(fact.phase) in EXECUTION_TERMINAL
        if run.replay is not None and run.found is None:
            run.replay.take((fact,))
        known = self._known.get(execution)
        if known is None:
            self._of_a_stranger(execution, run)
        elif known == fact.sequence and run.replay is not None and execution not in self._agreed:
            self._compare(execution, run)

    def finish(self) -> dict[ExecutionId, int]:
        """After the last fact: tells of all whose state says otherwise.

        Gives those of which more is told than the states know, with how many facts there are: newer states must say so.
        """
        for execution, known in self._known.items():
            run = self._runs.get(execution)
            if execution in self._agreed or (run is None and not self._whole):
                continue
            if run is None or run.replay is not None:
                self._differs(execution, run or _Run(Replay()))
            elif run.sequence < known:
                self._tell(execution, _behind(known, run.sequence))
        return {
            execution: run.sequence
            for execution, run in self._runs.items()
            if run.sequence > self._known.get(execution, 0)
        }

    def _of_a_stranger(self, execution: ExecutionId, run: _Run) -> None:
        """It has no state: it is newer than the states are, or its end is so long ago that it was forgotten."""
        if run.ended:
            for problem in run.replay.problems if run.replay else ():
                self._tell(execution, problem)
            del self._runs[execution]

    def _compare(self, execution: ExecutionId, run: _Run) -> None:
        run.found = self._problems(execution, run)
        if not run.found:
            self._agreed.add(execution)
            run.replay = None

    def _differs(self, execution: ExecutionId, run: _Run) -> None:
        for problem in self._problems(execution, run) if run.found is None else run.found:
            self._tell(execution, problem)

    def _problems(self, execution: ExecutionId, run: _Run) -> list[Problem]:
        assert run.replay is not None
        state = self._state(execution)
        return run.replay.against(state) if state else []


def _behind(known: int, told: int) -> Problem:
    return Problem(f"its state knows {known} facts", f"{told}, as its history has")
