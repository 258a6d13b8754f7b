"""Tasks' modules that lie in a folder of the engine are fetched by their pods, as flytekit's fast registration does."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from engine.model import layout

Store = Callable[[str, bytes], Awaitable[str]]
"""Stores an object under a key of engine.model.layout; gives its URI."""
_COMMANDS = {"pyflyte-execute", "pyflyte-map-execute"}


class Sources:
    """`folder`: what is below it are copies that no author changes any more, each in a folder of its own."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder, self._store = folder, store
        self._uris: dict[str, str] = {}
        self._turn = anyio.Lock()

    async def fetched(self, argv: Sequence[str], code_root: str) -> tuple[str, ...]:
        """A command of flytekit's, fetching its modules first. Any other one, or one without modules here, as it is."""
        if not argv or argv[0].rpartition("/")[2] not in _COMMANDS:
            return tuple(argv)
        uri = await self._uri(code_root)
        if not uri:
            return tuple(argv)
        return ("pyflyte-fast-execute", "--additional-distribution", uri, "--dest-dir", ".", "--", *argv)

    async def _uri(self, code_root: str) -> str:
        """Of the archive, which is made once; empty: there is nothing to be fetched."""
        folder = Path(code_root)
        if not code_root or folder.parent != self._folder:
            return ""
        async with self._turn:
            if code_root not in self._uris:
                packed = await to_thread.run_sync(_packed, folder)
                key = layout.sources(folder.name)
                self._uris[code_root] = await self._store(key, packed) if packed else ""
            return self._uris[code_root]


def _packed(folder: Path) -> bytes:
    """Blocking. A tar.gz of a folder's content; empty where the folder is not there."""
    if not folder.is_dir():
        return b""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return target.getvalue()
