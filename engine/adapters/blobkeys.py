"""Which names an object may have: one rule for every store, so that a workflow that runs on one runs on all."""

from __future__ import annotations

import re

from engine.model.errors import StoreRefused

PART_LIMIT = 255
"""Bytes of one part of a key: what local file systems allow."""
ROOT_LIMIT = 128
"""Bytes of a prefix within a bucket that a store may have as its root."""
KEY_LIMIT = 1024 - ROOT_LIMIT - 1
"""Bytes of a key below the root: what S3 allows in all is 1024."""
TEMPORARY = ".propwash-tmp-"
"""Names that start like this are an adapter's own unfinished files: never objects."""
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199})*\Z")
"""Nearly every key there is, seen at a glance."""


def check(key: str, uri: str) -> str:
    """The key as it came, if every part of it is a plain name; `uri` is what the error names. Raises StoreRefused."""
    wrong = _wrong(key)
    if wrong:
        raise StoreRefused(f"the store does not touch {uri!r}: {wrong}")
    return key


def _wrong(key: str) -> str:
    if _PLAIN.match(key) and len(key) <= KEY_LIMIT:
        return ""
    if not key:
        return "it is the root of the store; an object needs a name below it"
    wrong = next(filter(None, map(wrong_part, key.split("/"))), "")
    if not wrong and len(key.encode()) > KEY_LIMIT:
        return f"it has more than {KEY_LIMIT} bytes below the root"
    return wrong


def wrong_part(part: str) -> str:
    """Why this can't be a part of a key, or nothing if it can."""
    if part in ("", ".", ".."):
        return "the parts between its slashes can't be empty, '.' or '..'"
    if "\0" in part or "\\" in part or "::" in part:
        return "a NUL character, a backslash or '::' can't stand in a name (fsspec reads '::' as a chain of URLs)"
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        return "it is not valid unicode"
    if size > PART_LIMIT:
        return f"the part {part[:40]!r}... has more than {PART_LIMIT} bytes"
    if part.startswith(TEMPORARY):
        return f"names that start with {TEMPORARY!r} belong to the store's unfinished files"
    return ""
