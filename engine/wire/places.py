"""Where a file, directory or data set lies that a person names: a URI, or a local path that must be there."""

from __future__ import annotations

import os
import re
from enum import Enum

from engine.wire.mistakes import Mismatch
from engine.wire.scalars import string

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LOCAL = "file://"


class Place(Enum):
    FILE = "file"
    DIRECTORY = "directory"
    EITHER = "file or directory"


def uri_of(value: object, place: Place) -> str:
    """The URI as it is; a local path made absolute, because a task runs in a folder of its own. Raises Mismatch."""
    text = string(os.fspath(value) if isinstance(value, os.PathLike) else value)
    if not text:
        raise Mismatch("empty")
    if _SCHEME.match(text) and not text.startswith(_LOCAL):
        return text
    path = os.path.abspath(text.removeprefix(_LOCAL))
    if place is not Place.DIRECTORY and os.path.isfile(path):
        return path
    if place is not Place.FILE and os.path.isdir(path):
        return path
    there = "not a " + place.value if os.path.exists(path) else f"no such {place.value}"
    raise Mismatch(f"{there}: {path}")
