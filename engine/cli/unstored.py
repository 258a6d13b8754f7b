"""What an attempt has printed that the store does not have yet: a pod's, read by an engine or off its cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.screen import say_bytes
from engine.model.errors import EngineGone, Transient
from engine.model.ids import AttemptKey
from engine.reach import printed

if TYPE_CHECKING:
    from config.settings import Settings

Take = Callable[[bytes], bool]
"""Takes the next bytes; whether it wants more."""
Ask = Callable[[AttemptKey, Take], Awaitable[bool]]
"""Hands over what an attempt has printed; whether there was anybody to ask."""


class Page:
    """Stdout, without what is not the task's own."""

    def __init__(self, skipped: bytes) -> None:
        """`skipped`: what is left out where it begins with it."""
        self._skipped = skipped
        self.has_text = False

    def take(self, data: bytes) -> bool:
        """Whether somebody still reads."""
        data, self._skipped = data.removeprefix(self._skipped), b""
        self.has_text = self.has_text or bool(data)
        return not data or say_bytes(data)


async def engine_prints(home: Path, settings: Settings | None, key: AttemptKey, take: Take) -> bool:
    """An `Ask` of the engine that works on a home; where none does, of the cluster. Raises BadInput, EngineGone."""
    if await printed(home, key, take) is not None:
        return True
    return settings is not None and await cluster_prints(settings, key, take)


async def cluster_prints(settings: Settings, key: AttemptKey, take: Take) -> bool:
    """An `Ask` of the cluster that the settings name. Raises BadInput, EngineGone."""
    if settings.tasks.runner != "kubernetes":
        return False
    from engine import clusters

    try:
        async with aclosing(clusters.printed(settings, key)) as pieces:
            async for piece in pieces:
                if not take(piece):
                    break
    except Transient as problem:
        raise EngineGone(str(problem)) from problem
    return True
