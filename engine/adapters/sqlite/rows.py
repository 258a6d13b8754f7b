"""Nouns as rows: one flat list of values per table, written with as few statements as there can be.

Python's sqlite3 gives up the GIL in every step of a statement. With one step a row (`executemany`) a busy event loop
makes the writer wait at each row, seconds in all; one statement of many rows is one step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from urllib.parse import quote

from engine.adapters.sqlite import listing
from engine.model.ids import ExecutionId
from engine.ports.eventlog import Changes, Record
from engine.wire import codec

Value = int | float | str | bytes

REPLAYED = "replayed-"
"""Before the number of a dead letter, in the table `meta`."""
CHUNKS = (256, 64, 16, 4, 1)
"""Rows per statement: few sizes, so that SQLite compiles each statement once."""


@dataclass(frozen=True, slots=True)
class Table:
    insert: str
    columns: int
    on_conflict: str = ""


EVENTS = Table('INSERT INTO events ("offset", payload)', 2)
EXECUTIONS = Table(
    f"INSERT INTO executions (key, terminal, payload, {', '.join(listing.COLUMNS)})",
    3 + len(listing.COLUMNS),
    " ON CONFLICT (key) DO UPDATE SET terminal = excluded.terminal, payload = excluded.payload, phase = excluded.phase",
)
NODES = Table("INSERT OR REPLACE INTO nodes (execution, path, payload)", 3)
HISTORY = Table("INSERT INTO history (execution, sequence, payload)", 3)
DEAD_LETTERS = Table("INSERT INTO dead_letters (payload)", 1)


@dataclass(slots=True)
class Rows:
    """What one request writes, or a whole group of requests."""

    events: list[Value] = field(default_factory=list)
    executions: list[Value] = field(default_factory=list)
    nodes: list[Value] = field(default_factory=list)
    history: list[Value] = field(default_factory=list)
    dead_letters: list[Value] = field(default_factory=list)
    replayed: list[int] = field(default_factory=list)
    """Numbers of dead letters that are appended again."""
    cursor: int | None = None

    def extend(self, later: Rows) -> None:
        """Take in the rows of a later request: where both write the same row, the later one stays."""
        self.events += later.events
        self.executions += later.executions
        self.nodes += later.nodes
        self.history += later.history
        self.dead_letters += later.dead_letters
        self.replayed += later.replayed
        if later.cursor is not None:
            self.cursor = later.cursor

    def write(self, connection: sqlite3.Connection) -> None:
        """Run the statements; the caller holds the transaction."""
        insert(connection, EVENTS, self.events)
        insert(connection, EXECUTIONS, self.executions)
        insert(connection, NODES, self.nodes)
        insert(connection, HISTORY, self.history)
        insert(connection, DEAD_LETTERS, self.dead_letters)
        for number in self.replayed:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (f"{REPLAYED}{number}",))
        if self.cursor is not None:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'cursor'", (self.cursor,))


def event_rows(records: Sequence[Record]) -> Rows:
    rows = Rows()
    for record in records:
        rows.events += (record.offset, record.raw)
    return rows


def change_rows(changes: Changes) -> Rows:
    """Everything but the follow-up events, whose offsets the log knows. Raises Defect for what can't be packed."""
    rows = Rows()
    for execution in changes.executions:
        rows.executions += (key_of(execution.id), execution.terminal, codec.pack_execution(execution))
        rows.executions += listing.values_of(execution)
    for owner, node in changes.nodes:
        rows.nodes += (key_of(owner), node.path, codec.pack_node(node))
    for fact in changes.facts:
        rows.history += (key_of(fact.execution), fact.sequence, codec.pack_fact(fact))
    for letter in changes.dead_letters:
        rows.dead_letters.append(codec.pack_dead_letter(letter))
    return rows


@lru_cache(maxsize=1024)
def key_of(execution: ExecutionId) -> str:
    """`project:domain:name`; different executions have different keys, so odd characters are percent-encoded."""
    key = str(execution)
    if key.count(":") == 2 and "%" not in key and key.isascii():
        return key
    parts = (execution.project, execution.domain, execution.name)
    return ":".join(quote(part, safe=" /", errors="surrogatepass") for part in parts)


def insert(connection: sqlite3.Connection, table: Table, values: list[Value]) -> None:
    """Rows of a table, one after the other, flat."""
    for statement, chunk in _statements(table, values):
        connection.execute(statement, chunk)


def _statements(table: Table, values: list[Value]) -> Iterator[tuple[str, Sequence[Value]]]:
    position = 0
    for rows in CHUNKS:
        width = rows * table.columns
        while len(values) - position >= width:
            yield _statement(table, rows), values[position : position + width]
            position += width


@cache
def _statement(table: Table, rows: int) -> str:
    row = f"({', '.join('?' * table.columns)})"
    return f"{table.insert} VALUES {', '.join([row] * rows)}{table.on_conflict}"
