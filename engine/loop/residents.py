"""The executions that the engine holds in memory: all unfinished ones, each with its program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from engine.machine.execution import ExecutionState
from engine.model.graph import Program
from engine.model.ids import ExecutionId


class Residents:
    """`load` reads and compiles a package by its digest; a program is read once and shared by its executions."""

    def __init__(self, load: Callable[[str], Awaitable[Program]]) -> None:
        self._load = load
        self._programs: dict[str, Program] = {}
        self._states: dict[ExecutionId, ExecutionState] = {}

    async def program(self, digest: str) -> Program:
        """Raises BadInput when the package is not in the store or can't be compiled."""
        if digest not in self._programs:
            self._programs[digest] = await self._load(digest)
        return self._programs[digest]

    def known_program(self, digest: str) -> Program | None:
        return self._programs.get(digest)

    def get(self, execution: ExecutionId) -> ExecutionState | None:
        return self._states.get(execution)

    def add(self, state: ExecutionState) -> None:
        self._states[state.record.id] = state

    def drop(self, execution: ExecutionId) -> None:
        self._states.pop(execution, None)

    def __iter__(self) -> Iterator[ExecutionState]:
        return iter(self._states.values())

    def __len__(self) -> int:
        return len(self._states)
