"""The columns by which executions are chosen and put in order, so that a list reads no more than it shows."""

from __future__ import annotations

from engine.model.state import Execution
from engine.ports.eventlog import Selection

Value = int | float | str
COLUMNS = {
    "submitted_at": "REAL NOT NULL DEFAULT 0",
    "project": "TEXT NOT NULL DEFAULT ''",
    "domain": "TEXT NOT NULL DEFAULT ''",
    "phase": "TEXT NOT NULL DEFAULT ''",
    "entity": "TEXT NOT NULL DEFAULT ''",
    "workflow": "TEXT NOT NULL DEFAULT ''",
    "child": "INTEGER NOT NULL DEFAULT 0",
}
INDEX = "CREATE INDEX listed_executions ON executions (submitted_at, key)"


def values_of(execution: Execution) -> tuple[Value, ...]:
    """In the order of COLUMNS."""
    return (
        execution.submitted_at,
        _text(execution.id.project),
        _text(execution.id.domain),
        execution.phase.value,
        _text(execution.entity.name),
        _text(execution.workflow.name),
        execution.parent is not None,
    )


def query(wanted: Selection, behind_key: str) -> tuple[str, list[Value]]:
    """A statement that gives the payloads, and its values. `behind_key`: the key of `wanted.behind`."""
    conditions: list[str] = []
    values: list[Value] = []

    def ask(condition: str, *given: Value) -> None:
        conditions.append(condition)
        values.extend(given)

    if wanted.phases:
        ask(f"phase IN ({', '.join('?' * len(wanted.phases))})", *wanted.phases)
    if wanted.workflow:
        name = _text(wanted.workflow)
        ending = f".{name}"
        ask(f"({_named('entity', len(ending))} OR {_named('workflow', len(ending))})", name, ending, name, ending)
    if wanted.since is not None:
        ask("submitted_at >= ?", wanted.since)
    if not wanted.children:
        ask("child = 0")
    for column, asked in (("project", wanted.project), ("domain", wanted.domain)):
        if asked is not None:
            ask(f"{column} = ?", _text(asked))
    if wanted.behind is not None:
        ask("(submitted_at, key) < (?, ?)", wanted.behind.submitted_at, behind_key)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    limit = -1 if wanted.limit is None else wanted.limit
    return f"SELECT payload FROM executions{where} ORDER BY submitted_at DESC, key DESC LIMIT ?", [*values, limit]


def _named(column: str, length: int) -> str:
    return f"{column} = ? OR substr({column}, -{length}) = ?"


def _text(text: str) -> str:
    """As SQLite can hold it: a lone surrogate can't be stored, and is spelt out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
