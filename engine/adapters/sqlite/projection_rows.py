"""A batch of a shared log as rows of its projection. Every function runs inside a transaction of its caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from engine.adapters.sqlite import listing
from engine.adapters.sqlite.rows import EXECUTIONS, NODES, Table, Value, insert, key_of
from engine.model.state import Fact
from engine.ports.projection import Update
from engine.wire import codec

PRUNED_AT_ONCE = 500
_HISTORY = Table("INSERT OR REPLACE INTO history (execution, sequence, payload)", 3)
_SEEN = Table("INSERT INTO seen (execution, at)", 2, " ON CONFLICT (execution) DO UPDATE SET at = max(at, excluded.at)")
_EVERYTHING = (
    "DELETE FROM executions WHERE key = ?",
    "DELETE FROM nodes WHERE execution = ?",
    "DELETE FROM history WHERE execution = ?",
    "DELETE FROM seen WHERE execution = ?",
)


def positions(connection: sqlite3.Connection) -> Mapping[str, int]:
    return dict(connection.execute("SELECT source, position FROM positions"))


def absorb(connection: sqlite3.Connection, update: Update, now: float) -> int:
    """The number of facts."""
    for execution in update.forgotten:
        _forget(connection, key_of(execution))
    _write_nodes(connection, update)
    executions: list[Value] = []
    seen = dict[str, float]()
    for record, raw in update.executions.values():
        key = key_of(record.id)
        executions += (key, record.terminal, raw, *listing.values_of(record))
        seen[key] = max(record.submitted_at, record.ended_at)
    insert(connection, EXECUTIONS, executions)
    _write_facts(connection, update.facts)
    for fact, _ in update.facts:
        key = key_of(fact.execution)
        seen[key] = max(fact.at, seen.get(key, 0.0))
    insert(connection, _SEEN, [value for pair in seen.items() for value in pair])
    connection.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?)", update.positions.items())
    connection.execute("UPDATE about SET written_at = ?", (now,))
    return len(update.facts)


def prune(connection: sqlite3.Connection, before: float) -> int:
    """How many executions were deleted, of PRUNED_AT_ONCE at the most."""
    rows = connection.execute(
        "SELECT execution FROM seen WHERE at < ? AND NOT EXISTS"
        " (SELECT 1 FROM executions WHERE key = execution AND terminal = 0) LIMIT ?",
        (before, PRUNED_AT_ONCE),
    )
    keys = rows.fetchall()
    for statement in _EVERYTHING:
        connection.executemany(statement, keys)
    return len(keys)


def clear(connection: sqlite3.Connection) -> int:
    for table in ("executions", "nodes", "history", "seen", "positions"):
        connection.execute(f"DELETE FROM {table}")
    return 0


def _forget(connection: sqlite3.Connection, key: str) -> None:
    """An execution that the log has forgotten; but not the facts of a later one of its name, which may come before."""
    row = connection.execute("SELECT payload FROM executions WHERE key = ?", (key,)).fetchone()
    if row is None:
        return
    ended_at = codec.unpack_execution(row[0]).ended_at
    (heard_at,) = connection.execute("SELECT at FROM seen WHERE execution = ?", (key,)).fetchone()
    for statement in _EVERYTHING[:1] if heard_at > ended_at else _EVERYTHING:
        connection.execute(statement, (key,))


def _write_nodes(connection: sqlite3.Connection, update: Update) -> None:
    gone, written = list[tuple[str, str]](), list[Value]()
    for (execution, path), raw in update.nodes.items():
        if raw is None:
            gone.append((key_of(execution), path))
        else:
            written += (key_of(execution), path, raw)
    connection.executemany("DELETE FROM nodes WHERE execution = ? AND path = ?", gone)
    insert(connection, NODES, written)


def _write_facts(connection: sqlite3.Connection, facts: Sequence[tuple[Fact, bytes]]) -> None:
    rows = dict[str, dict[int, bytes]]()
    for fact, raw in facts:
        key = key_of(fact.execution)
        if fact.sequence == 1:  # the first of an execution: what an earlier one of its name has left goes
            connection.execute("DELETE FROM history WHERE execution = ?", (key,))
            rows[key] = {}
        rows.setdefault(key, {})[fact.sequence] = raw
    values: list[Value] = []
    for key, found in rows.items():
        for sequence, raw in found.items():
            values += (key, sequence, raw)
    insert(connection, _HISTORY, values)
