"""Programs that several engines of one process use: loaded once for all who ask, and kept while they are recent."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable

import anyio

from engine.model.graph import Program

KEPT = 64
"""Programs kept here; an engine keeps those that it uses for as long as it does."""


class Programs:
    """`load` reads and compiles a package by its digest."""

    def __init__(self, load: Callable[[str], Awaitable[Program]]) -> None:
        self._load = load
        self._kept: OrderedDict[str, Program] = OrderedDict()
        self._loading: dict[str, anyio.Lock] = {}

    async def __call__(self, digest: str) -> Program:
        """Raises what `load` raises."""
        found = self._kept.get(digest) or await self._loaded(digest)
        self._kept[digest] = found
        self._kept.move_to_end(digest)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    async def _loaded(self, digest: str) -> Program:
        try:
            async with self._loading.setdefault(digest, anyio.Lock()):
                return self._kept.get(digest) or await self._load(digest)
        finally:
            self._loading.pop(digest, None)
