"""Which names an object may have: one rule for every store, so that a workflow that runs on one runs on all."""

from __future__ import annotations

from engine.model.errors import StoreRefused

PART_LIMIT = 255
"""Bytes of one part of a key: what local file systems allow."""
KEY_LIMIT = 1024
"""Bytes of a key: what S3 allows."""
TEMPORARY = ".propwash-tmp-"
"""Names that start like this are an adapter's own unfinished files: never objects."""


def check(key: str, uri: str) -> str:
    """The key as it came, if every part of it is a plain name; `uri` is what the error names. Raises StoreRefused."""
    wrong = _wrong(key)
    if wrong:
        raise StoreRefused(f"the store does not touch {uri!r}: {wrong}")
    return key


def _wrong(key: str) -> str:
    if not key:
        return "it is the root of the store; an object needs a name below it"
    if "\0" in key or "\\" in key or "::" in key:
        return "a NUL character, a backslash or '::' can't stand in a name (fsspec reads '::' as a chain of URLs)"
    if not key.isascii():
        try:
            key.encode()
        except UnicodeEncodeError:
            return "it is not valid unicode"
    if len(key) > KEY_LIMIT // 4 and len(key.encode()) > KEY_LIMIT:
        return f"it has more than {KEY_LIMIT} bytes below the root"
    for part in key.split("/"):
        if part in ("", ".", ".."):
            return "the parts between its slashes can't be empty, '.' or '..'"
        if len(part) > PART_LIMIT // 4 and len(part.encode()) > PART_LIMIT:
            return f"the part {part[:40]!r}... has more than {PART_LIMIT} bytes"
        if part.startswith(TEMPORARY):
            return f"names that start with {TEMPORARY!r} belong to the store's unfinished files"
    return ""
