"""The executions that the engine holds in memory: all unfinished ones, each with its program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from engine.machine.execution import ExecutionState
from engine.model.graph import Program
from engine.model.ids import ExecutionId

IDLE_PROGRAMS = 16
"""Programs kept for the next execution though none uses them now."""


class Residents:
    """`load` reads and compiles a package by its digest; executions of one package share their program."""

    def __init__(self, load: Callable[[str], Awaitable[Program]]) -> None:
        self._load = load
        self._programs: dict[str, Program] = {}
        """By digest; the one that became idle last stands last."""
        self._loading: dict[str, anyio.Lock] = {}
        self._states: dict[ExecutionId, ExecutionState] = {}
        self._expected: set[ExecutionId] = set()
        self._uses: Counter[str] = Counter()
        """Digest -> executions in memory."""

    async def program(self, digest: str) -> Program:
        """Raises BadInput when the package is not in the store or can't be compiled."""
        return self._programs.get(digest) or await self._loaded(digest)

    async def _loaded(self, digest: str) -> Program:
        """Loads once for all who ask at the same time."""
        try:
            async with self._loading.setdefault(digest, anyio.Lock()):
                found = self._programs.get(digest) or await self._load(digest)
                self._programs[digest] = found
                return found
        finally:
            self._loading.pop(digest, None)

    def known_program(self, digest: str) -> Program | None:
        return self._programs.get(digest)

    def get(self, execution: ExecutionId) -> ExecutionState | None:
        return self._states.get(execution)

    @contextmanager
    def expecting(self, execution: ExecutionId) -> Iterator[None]:
        """The log was asked: it has no such execution. It is being submitted in this block."""
        self._expected.add(execution)
        try:
            yield
        finally:
            self._expected.discard(execution)

    def knows(self, execution: ExecutionId) -> bool:
        """Whether the log need not be asked: the execution is in memory, or on its way there."""
        return execution in self._states or execution in self._expected

    def add(self, state: ExecutionState) -> None:
        self._states[state.record.id] = state
        self._uses.update([state.record.package, *state.plans])

    def lay_plan(self, state: ExecutionState, digest: str) -> bool:
        """Give an execution in memory what one of its @dynamic tasks has written; False: nobody has loaded it."""
        plan = self._programs.get(digest)
        if plan is not None and digest not in state.plans:
            state.plans[digest] = plan
            self._uses[digest] += 1
        return plan is not None

    def drop(self, execution: ExecutionId) -> None:
        """Forget a finished execution, its plans, and programs that have been idle for long."""
        state = self._states.pop(execution, None)
        if state is None:
            return
        for plan in state.plans:
            self._uses[plan] -= 1
            if not self._uses[plan]:
                del self._uses[plan], self._programs[plan]
        digest = state.record.package
        self._uses[digest] -= 1
        if not self._uses[digest]:
            del self._uses[digest]
            self._programs[digest] = self._programs.pop(digest)
            for idle in [known for known in self._programs if known not in self._uses][:-IDLE_PROGRAMS]:
                del self._programs[idle]

    def __iter__(self) -> Iterator[ExecutionState]:
        return iter(self._states.values())

    def __len__(self) -> int:
        return len(self._states)
