"""URIs and the paths they stand for. A URI is `file://` + the absolute path, character for character: flytekit and
fsspec do not unquote, so nothing is quoted."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from engine.adapters import blobkeys
from engine.model.errors import BadInput, StoreRefused

SCHEME = "file://"
MAGIC = ("::", "*", "?", "[")
"""What fsspec reads as a chain of URLs or as a pattern: a task below such a folder can't read its own inputs."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}\Z")
REMEMBERED = 2048
"""Names that need not be looked at again."""


class Names:
    """What may be named below one root. The root as given and its real path are understood; the latter is given out."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Raises BadInput for a root that tasks could not use."""
        given = os.path.abspath(root)
        self.root = os.path.realpath(given)
        for path in (given, self.root):
            _check_root(path)
        self._prefix = self.root + "/"
        self._given = given + "/"
        self.uri = lru_cache(maxsize=REMEMBERED)(self._uri)
        """The URI of a key. Raises StoreRefused."""
        self._folders: dict[str, str] = {}
        """URIs of folders whose files were asked for, and their paths."""

    def _uri(self, key: str) -> str:
        path = f"{self._prefix}{key}"
        uri = SCHEME + path
        blobkeys.check(key, uri)
        self._remember(uri, path)
        return uri

    def path(self, uri: str) -> str:
        """The path of an object or a folder below the root. Raises StoreRefused."""
        folder, _, name = uri.rpartition("/")
        known = self._folders.get(folder)
        if known is not None and _PLAIN_NAME.match(name):
            return f"{known}/{name}"
        path = self._path(uri)
        self._remember(folder, os.path.dirname(path))
        return path

    def _remember(self, uri: str, folder: str) -> None:
        if len(folder) < blobkeys.KEY_LIMIT - blobkeys.PART_LIMIT:
            if len(self._folders) >= REMEMBERED:
                self._folders.clear()
            self._folders[uri] = folder

    def _path(self, uri: str) -> str:
        path = uri.removeprefix(SCHEME)
        if path.startswith(self._prefix):
            key = path[len(self._prefix) :]
        elif path.startswith(self._given):
            key = path[len(self._given) :]
        else:
            raise StoreRefused(f"the store does not touch {uri!r}: it is not below {SCHEME}{self._prefix}")
        return self._prefix + blobkeys.check(key, uri)

    def folder(self, prefix_uri: str) -> str:
        """The same, or the root itself."""
        path = prefix_uri.removeprefix(SCHEME)
        return self.root if path + "/" in (self._prefix, self._given) else self.path(prefix_uri)


def _check_root(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the store can't be at {path!r}: its path is not valid UTF-8; choose another folder") from None
    found = next((magic for magic in MAGIC if magic in path), None)
    if found:
        raise BadInput(
            f"the store can't be at {path!r}: flytekit tasks can't read files below a path with {found!r} in it; "
            "choose another folder"
        )
    if path == "/":
        raise BadInput("the store can't be at '/': choose a folder of its own")
