"""Server-sent events of an execution: every fact of its history, from the beginning or from where a client left off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import msgspec
from aiohttp import web

from engine.gateway.document import error_document, iso
from engine.gateway.guard import Refuse
from engine.gateway.service import Service
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact

FACTS_AT_ONCE = 500
MOST = 200
"""Streams at once."""
KEEP_ALIVE_SECONDS = 15.0
"""A comment is sent after so long a silence, so that a connection that is gone is noticed and proxies keep it."""


class Streams:
    def __init__(self, service: Callable[[], Service]) -> None:
        self._service = service
        self._open = 0

    async def send(self, request: web.Request, execution: ExecutionId) -> web.StreamResponse:
        """Ends with the execution. Raises Refuse."""
        after = _last(request.headers.get("Last-Event-ID", "0"))
        if self._open >= MOST:
            raise Refuse(503, "Busy", f"{MOST} streams are open, which is the most; try again later", "SYSTEM")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        self._open += 1
        try:
            await response.prepare(request)
            async for text in self._texts(execution, after):
                await response.write(text)
            await response.write_eof()
        except ConnectionError:
            pass  # the reader is gone, which is how most of them leave
        finally:
            self._open -= 1
        return response

    async def _texts(self, execution: ExecutionId, after: int) -> AsyncIterator[bytes]:
        service, moved = self._service(), anyio.Event()

        def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
            if any(record.id == execution for record in executions) or any(it.execution == execution for it in facts):
                moved.set()

        with service.watchers.watching(see):
            while True:
                record = (await service.journal.find([execution])).get(execution)
                while facts := await service.journal.history(execution, after, FACTS_AT_ONCE):
                    for fact in facts:
                        yield _text("transition", fact.sequence, transition(fact))
                    after = facts[-1].sequence
                if record is not None and record.terminal and after >= record.sequence:
                    return
                with anyio.move_on_after(KEEP_ALIVE_SECONDS) as silence:
                    await moved.wait()
                moved = anyio.Event()
                if silence.cancelled_caught:
                    yield b": still there\n\n"


def transition(fact: Fact) -> dict[str, object]:
    """As engine.gateway.bodies.Transition has it."""
    return {
        "sequence": fact.sequence,
        "at": iso(fact.at),
        "path": fact.path,
        "index": fact.index,
        "phase": fact.phase,
        "attempt": fact.attempt,
        "error": error_document(fact.error),
        "cache": None if fact.cache is None else fact.cache.value,
    }


def _text(event: str, id: int, data: object) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (event.encode(), id, msgspec.json.encode(data))


def _last(text: str) -> int:
    if not text.isdecimal():
        raise Refuse(400, "BadInput", f"Last-Event-ID: expected the number of an event, got {text!r}")
    return int(text)
