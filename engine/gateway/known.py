"""The executions that the API can speak of: those in the journal, and those that are about to appear there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio

from engine.gateway.accepted import AcceptedHere
from engine.gateway.guard import Refuse
from engine.gateway.service import Service
from engine.model import layout
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.state import REJECTED, Execution, Fact, Snapshot

PATIENCE_SECONDS = 2.0
"""How long the answer to a submission, which is durable, waits for the turn that starts the execution."""


class Known:
    """Each call raises what `service` raises."""

    def __init__(self, service: Callable[[], Service]) -> None:
        self._service, self._accepted = service, AcceptedHere()

    async def accept(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        """Returns when the execution can be read, so that whoever asks next finds it; who asks here finds it anyway."""
        service, execution = self._service(), event.execution
        with _seen(service, execution) as there:
            await service.accept(event, inputs)
            if not await self._find(execution):
                inputs_uri = service.blobs.uri(layout.workflow_inputs(execution)) if inputs else ""
                self._accepted.enter(event, inputs_uri, time.time())
                with anyio.move_on_after(PATIENCE_SECONDS):
                    await there.wait()
                    self._accepted.leave(execution)

    async def record(self, execution: ExecutionId) -> Execution:
        """Raises Refuse where there is none."""
        found = await self._find(execution)
        if found is not None:
            self._accepted.leave(execution)
            return found
        found = self._accepted.get(execution) or await self._wait_for(execution)
        await self._refuse_rejected(execution, found)
        if found is None:
            raise Refuse(404, "NotFound", f"there is no execution {execution}")
        return found

    async def snapshot(self, record: Execution) -> Snapshot:
        """One that can't be read yet has no nodes."""
        return await self._service().journal.snapshot(record.id) or Snapshot(record)

    async def _find(self, execution: ExecutionId) -> Execution | None:
        return (await self._service().journal.find([execution])).get(execution)

    async def _wait_for(self, execution: ExecutionId) -> Execution | None:
        """Another process may just have accepted it: before it is said not to be there, that one's word is awaited."""
        service, found = self._service(), None
        with _seen(service, execution) as there, anyio.move_on_after(service.delay_seconds or 0.0):
            while (found := await self._find(execution)) is None:
                await there.wait()
        return found

    async def _refuse_rejected(self, execution: ExecutionId, accepted: Execution | None) -> None:
        """Raises Refuse where what was asked for came to nothing (a fact of the number 0)."""
        for fact in await self._service().journal.history(execution, after=-1, limit=1):
            if fact.phase == REJECTED and fact.error and (accepted is None or fact.at >= accepted.submitted_at):
                self._accepted.leave(execution)
                cause = f"there is no execution {execution}: what was asked for it was rejected: {fact.error.message}"
                raise Refuse(404, fact.error.code, cause, fact.error.kind.value)


@contextmanager
def _seen(service: Service, execution: ExecutionId) -> Iterator[anyio.Event]:
    """Set when a record of the execution can be read that was not there when the block was entered."""
    there = anyio.Event()

    def see(records: Sequence[Execution], facts: Sequence[Fact]) -> None:
        if any(record.id == execution for record in records):
            there.set()

    with service.watchers.watching(see):
        yield there
