"""Whether the runner runs all the tasks that an entity may reach. What it runs once it always runs."""

from __future__ import annotations

from engine.model.graph import Program
from engine.model.ids import EntityId
from engine.ports.taskrunner import TaskRunner
from engine.wire.lookup import reached_tasks


class Refusals:
    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self._runnable: set[tuple[str, EntityId]] = set()

    async def of(self, program: Program, entity: EntityId) -> str:
        """The tasks that it can't run, with the reason; "" = none."""
        if (program.digest, entity) in self._runnable:
            return ""
        told = [(task.id, await self._runner.refuses(task)) for task in reached_tasks(program, entity)]
        problem = "; ".join(f"{id}: {reason}" for id, reason in sorted(told) if reason)
        if not problem:
            self._runnable.add((program.digest, entity))
        return problem
