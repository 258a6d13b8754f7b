"""Tasks' modules that were registered are fetched by their pods, as flytekit's fast registration does."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePath

from engine.adapters.kubernetes.naming import literal

Find = Callable[[str], Awaitable[str]]
"""Gives the URI of the archive of that name, empty where there is none."""
_COPY = re.compile(r"fast[0-9a-f]{32}\Z")
"""The name of a copy follows from its content, so it has one archive for ever."""
_COMMANDS = {"pyflyte-execute", "pyflyte-map-execute"}


class Sources:
    def __init__(self, find: Find) -> None:
        self._find = find
        self._uris: dict[str, str] = {}

    async def fetched(self, argv: Sequence[str], code_root: str) -> tuple[str, ...]:
        """A command of flytekit's, fetching its modules first. Any other one, or one without an archive, as it is."""
        name = PurePath(code_root).name
        if not argv or argv[0].rpartition("/")[2] not in _COMMANDS or not _COPY.match(name):
            return tuple(argv)
        uri = self._uris.get(name) or await self._find(name)
        if not uri:
            return tuple(argv)
        self._uris[name] = uri
        return ("pyflyte-fast-execute", "--additional-distribution", literal(uri), "--dest-dir", ".", "--", *argv)
