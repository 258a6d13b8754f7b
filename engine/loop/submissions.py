"""Names of executions from the moment when somebody submits them until the log knows them: the first one counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio

from engine.loop.watchers import Watchers
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact


class _Taken:
    __slots__ = ("content", "over")

    def __init__(self, content: tuple[object, ...]) -> None:
        self.content = content
        self.over = anyio.Event()
        """The submission is durable, or has failed."""


class Names:
    def __init__(self, watchers: Watchers) -> None:
        self._taken: dict[ExecutionId, _Taken] = {}
        watchers.add(self._committed)

    @asynccontextmanager
    async def alone(self, event: ExecutionSubmitted, inputs: bytes) -> AsyncIterator[bool]:
        """True for the first submission of a name: do it in the block. False, after it is durable, for the same again.

        Raises BadInput for another submission of a name whose first one is still on its way.
        """
        content = (event.entity, event.package, event.recovers, event.overwrite_cache, event.overrides, inputs)
        while (taken := self._taken.get(event.execution)) is not None:
            if taken.content != content:
                raise BadInput(
                    f"execution {event.execution.name} exists already (just submitted) with another workflow or other "
                    "inputs; choose another name"
                )
            if taken.over.is_set():
                yield False
                return
            await taken.over.wait()
        mine = self._taken[event.execution] = _Taken(content)
        try:
            yield True
        except BaseException:
            self.forget(event.execution)
            raise
        finally:
            mine.over.set()

    def forget(self, execution: ExecutionId) -> None:
        """The log answers for this name, or its submission has failed."""
        self._taken.pop(execution, None)

    def _committed(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        for record in executions:
            self.forget(record.id)
