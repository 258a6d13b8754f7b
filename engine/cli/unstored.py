"""What an attempt has printed that the store does not have yet: a pod's, which the engine on a home reads."""

from __future__ import annotations

from pathlib import Path

from engine.cli.screen import say_bytes
from engine.model.ids import AttemptKey
from engine.reach import printed


async def print_unstored(home: Path, key: AttemptKey, skipped: bytes) -> bool | None:
    """Whether there was anything; None: no engine works on the home, so nobody can tell. `skipped`: see `printed`."""
    page = _Page(skipped)
    asked = await printed(home, key, page.take)
    return None if asked is None else page.has_text


class _Page:
    """Stdout, without what is not the task's own."""

    def __init__(self, skipped: bytes) -> None:
        self._skipped = skipped
        self.has_text = False

    def take(self, data: bytes) -> bool:
        """Whether somebody still reads."""
        data, self._skipped = data.removeprefix(self._skipped), b""
        self.has_text = self.has_text or bool(data)
        return not data or say_bytes(data)
