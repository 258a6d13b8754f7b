"""One thread that does small blocking calls for the event loop, a group at a time.

Calls made in one tick of the loop travel to the thread together and come back together: two hops a group, not two a
call. Calls run in the order in which they were made.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

import anyio

from engine.adapters.files.folders import Known
from engine.model.errors import Defect

T = TypeVar("T")
Work = Callable[[Known], T]

GROUP = 256
"""Calls that come back together at most, so that the first of a thousand need not wait for the last."""
CLOSE_SECONDS = 10.0
"""The longest that `close` waits for calls still under way."""

_Call = tuple["asyncio.Future[Any]", Work[Any]]
_Outcome = tuple["asyncio.Future[Any]", Any, Exception | None]


class IoThread:
    """Belongs to the event loop it was made in."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._queued: list[_Call] = []
        self._inbox: SimpleQueue[list[_Call] | None] = SimpleQueue()
        self.closed = False
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Work[T]) -> asyncio.Future[T]:
        """Run `work` in the thread, for what it returns or raises. Cancelled before its turn, it never runs."""
        self.check_open()
        if not self._queued:
            self._loop.call_soon(self._hand_over)
        future: asyncio.Future[T] = self._loop.create_future()
        self._queued.append((future, work))
        return future

    def check_open(self) -> None:
        if self.closed:
            raise Defect(f"{self._thread.name} was called after it was closed")

    def take(self, group: list[_Call]) -> None:
        """Run calls that were collected elsewhere, as one group."""
        self._inbox.put(group)

    async def close(self) -> None:
        """Finish the calls already made, then end the thread; after CLOSE_SECONDS it is left to end by itself."""
        if self.closed:
            return
        self.closed = True
        self._hand_over()
        self._inbox.put(None)
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._ended.wait()

    def _hand_over(self) -> None:
        queued, self._queued = self._queued, []
        for start in range(0, len(queued), GROUP):
            self._inbox.put(queued[start : start + GROUP])

    def _run(self) -> None:
        try:
            while (group := self._inbox.get()) is not None:
                known: Known = set()
                outcomes = [_do(future, work, known) for future, work in group if not future.cancelled()]
                self._loop.call_soon_threadsafe(_deliver, outcomes)
            # The last thing the thread does: to join it, which blocks, would add nothing.
            self._loop.call_soon_threadsafe(self._ended.set)
        except RuntimeError:
            # The loop was closed under us: nobody is left to hear of it.
            if not self._loop.is_closed():
                raise


def _do(future: asyncio.Future[Any], work: Work[Any], known: Known) -> _Outcome:
    try:
        return future, work(known), None
    except Exception as error:  # noqa: BLE001 - raised again where the future is awaited
        return future, None, error


def _deliver(outcomes: list[_Outcome]) -> None:
    for future, value, error in outcomes:
        if future.done():
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
