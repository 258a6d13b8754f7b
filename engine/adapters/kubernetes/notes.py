"""Why attempts do not run yet, in words, beside their outputs: so that whoever looks can read it, in any process."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from engine.model.errors import EngineError
from engine.model.ids import AttemptKey
from engine.model.layout import NOTE

log = logging.getLogger(__name__)

Put = Callable[[str, bytes], Awaitable[None]]
PAUSE_SECONDS = 2.0
"""What passes sooner is not worth an object."""
LONGEST = 2000
"""Characters."""


class Notes:
    """Writes what `tell` was told last, some seconds later. An empty note says that nothing is waited for any more."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self.of: dict[AttemptKey, str] = {}
        """As it is now."""
        self._places: dict[AttemptKey, str] = {}
        self._written: dict[AttemptKey, str] = {}
        self._news = anyio.Event()

    def tell(self, key: AttemptKey, prefix_uri: str, why: str) -> None:
        if why == self.of.get(key, ""):
            return
        if why:
            self.of[key], self._places[key] = why[:LONGEST], prefix_uri
            log.info("an attempt waits", extra={"attempt": str(key), "for": why})
        else:
            self.of.pop(key, None)
        self._news.set()

    def forget(self, key: AttemptKey) -> None:
        """The attempt is over."""
        self.of.pop(key, None)
        self._places.pop(key, None)
        self._written.pop(key, None)

    async def run(self) -> None:
        """For ever."""
        while True:
            await self._news.wait()
            await anyio.sleep(PAUSE_SECONDS)
            self._news = anyio.Event()
            for key, place in list(self._places.items()):
                why = self.of.get(key, "")
                if why != self._written.get(key, ""):
                    await self._write(key, place, why)

    async def _write(self, key: AttemptKey, place: str, why: str) -> None:
        try:
            await self._put(f"{place}/{NOTE}", why.encode())
            self._written[key] = why
        except EngineError as problem:
            extra = {"attempt": str(key), "cause": str(problem)}
            log.warning("what an attempt waits for could not be kept", extra=extra)
