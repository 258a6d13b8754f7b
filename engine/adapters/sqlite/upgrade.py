"""Files of older versions are brought up to date by the first engine that opens them, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from engine.adapters.sqlite import listing
from engine.wire import codec


def _list_executions(connection: sqlite3.Connection) -> None:
    """1 to 2: executions have columns to be chosen by. Raises Unreadable for one that can't be read."""
    for name, kind in listing.COLUMNS.items():
        connection.execute(f"ALTER TABLE executions ADD COLUMN {name} {kind}")
    assignments = ", ".join(f"{name} = ?" for name in listing.COLUMNS)
    numbers = [number for (number,) in connection.execute("SELECT number FROM executions")]
    for number in numbers:
        (payload,) = connection.execute("SELECT payload FROM executions WHERE number = ?", (number,)).fetchone()
        values = listing.values_of(codec.unpack_execution(payload))
        connection.execute(f"UPDATE executions SET {assignments} WHERE number = ?", (*values, number))
    connection.execute(listing.INDEX)


STEPS: Mapping[int, Callable[[sqlite3.Connection], None]] = {1: _list_executions}
"""Schema version -> how a file of it becomes one of the next."""


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Raises what SQLite raises, and Unreadable; nothing is changed then."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        while version in STEPS:
            STEPS[version](connection)
            version += 1
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (version,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
