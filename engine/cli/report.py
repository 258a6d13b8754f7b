"""What people read at the end of an execution, and the table of `list`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from textwrap import indent
from typing import TYPE_CHECKING

from engine.cli.wording import duration, padded, plain, width
from engine.model.errors import shorten
from engine.model.state import Execution

if TYPE_CHECKING:
    from engine.wire.natural import Json

OUTPUTS_SHOWN = 20_000
"""Characters; `--json` always gives the whole."""
Table = list[tuple[str, ...]]


def outcome(record: Execution, now: float) -> str:
    """`execution x SUCCEEDED after 0.8 s`."""
    line = f"execution {record.id.name} {record.phase.value}"
    if not record.started_at:
        return line
    if record.terminal:
        return f"{line} after {duration(record.ended_at - record.started_at)}"
    return f"{line} for {duration(now - record.started_at)}"


def outputs_text(outputs: Mapping[str, Json]) -> str:
    """Natural JSON."""
    return shorten(json.dumps(dict(outputs), indent=2, ensure_ascii=False), OUTPUTS_SHOWN)


def failure_text(record: Execution, stderr: str) -> str:
    """Code, kind, node, message, and where the task's stderr lies; "" if nothing failed."""
    error = record.error
    if error is None:
        return ""
    where = f" at node {error.node}" if error.node else ""
    lines = [f"{error.code} ({error.kind.value}){where}:", indent(error.message.rstrip(), "  ")]
    if stderr:
        lines.append(f"stderr of the task: {stderr}")
    return "\n".join(lines)


def execution_table(records: Sequence[Execution], now: float) -> str:
    """One line an execution."""
    rows: Table = [("NAME", "PHASE", "WORKFLOW", "SUBMITTED", "TIME", "PARENT", "ERROR")]
    for record in records:
        begun, parent = record.started_at, record.parent
        rows.append(
            (
                record.id.name,
                record.phase.value,
                plain(record.entity.name),
                datetime.fromtimestamp(record.submitted_at).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
                duration((record.ended_at or now) - begun) if begun else "",
                f"{parent.execution.name} {parent.path}" if parent else "",
                plain(record.error.code) if record.error else "",
            )
        )
    return columns(rows)


WIDEST = 80
"""Characters to which a column is padded: one deep path must not widen every line."""


def columns(rows: Table) -> str:
    """Cells below each other; a column that is empty but for its head is left out, and very wide cells stand out."""
    kept = [n for n in range(len(rows[0])) if any(row[n] for row in rows[1:])]
    widths = {n: max(min(width(row[n]), WIDEST) for row in rows) for n in kept}
    return "\n".join("  ".join(padded(row[n], widths[n]) for n in kept).rstrip() for row in rows)
