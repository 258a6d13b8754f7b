"""Executions by their name alone: found by the index of their keys, `project:domain:name`, however many there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from engine.adapters.sqlite.rows import key_of
from engine.model.ids import ExecutionId

NEWEST = 1000
"""Of so many a message may propose one."""
_AFTER_COLON = ";"
"""The sign that follows a colon: what is not below `p:d;` is in no project and domain before it."""


def keys_of(connection: sqlite3.Connection, name: str) -> list[str]:
    """The keys that an execution of this name, or of `project:domain:name`, may have here."""
    project, _, rest = name.partition(":")
    domain, _, last = rest.partition(":")
    found = [f"{prefix}:{name}" for prefix in _places(connection)]
    return [*found, key_of(ExecutionId(project, domain, last))] if last else found


def _places(connection: sqlite3.Connection) -> Iterator[str]:
    """Every `project:domain` there is: one step through the index for each."""
    least = ""
    while (
        key := connection.execute("SELECT min(key) FROM executions WHERE key >= ?", (least,)).fetchone()[0]
    ) is not None:
        place, _, _ = key.rpartition(":")
        yield place
        least = place + _AFTER_COLON


def begun_with(connection: sqlite3.Connection, name: str, most: int) -> list[str]:
    """Names that begin like this one."""
    found: list[str] = []
    for place in _places(connection):
        begin = f"{place}:{name}"
        rows = connection.execute(
            "SELECT key FROM executions WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
            (begin, f"{begin}\U0010ffff", most - len(found)),
        )
        found += [_name(key) for (key,) in rows]
    return found


def newest(connection: sqlite3.Connection) -> tuple[list[str], int]:
    """The names of the NEWEST, oldest first, and how many executions there are."""
    rows = connection.execute("SELECT key FROM executions ORDER BY number DESC LIMIT ?", (NEWEST,)).fetchall()
    (count,) = connection.execute("SELECT count(*) FROM executions").fetchone()
    return [_name(key) for (key,) in reversed(rows)], count


def _name(key: str) -> str:
    return key.rpartition(":")[2]
