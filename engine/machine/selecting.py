"""Which executions somebody wants to see, for logs that hold them in memory."""

from __future__ import annotations

from collections.abc import Iterable

from engine.model.ids import ExecutionId
from engine.model.state import Execution
from engine.ports.eventlog import Selection


def chosen(records: Iterable[Execution], wanted: Selection) -> list[Execution]:
    """In the order of `engine.ports.eventlog.Journal.select`."""
    found = sorted((record for record in records if _is_wanted(record, wanted)), key=_place, reverse=True)
    return found if wanted.limit is None else found[: wanted.limit]


def _is_wanted(record: Execution, wanted: Selection) -> bool:
    return (
        (wanted.children or record.parent is None)
        and wanted.project in (None, record.id.project)
        and wanted.domain in (None, record.id.domain)
        and (not wanted.phases or record.phase.value in wanted.phases)
        and (wanted.since is None or record.submitted_at >= wanted.since)
        and (not wanted.workflow or any(_is_named(it.name, wanted.workflow) for it in (record.entity, record.workflow)))
        and (wanted.behind is None or _place(record) < _place_of(wanted.behind.submitted_at, wanted.behind.id))
    )


def _is_named(name: str, asked: str) -> bool:
    return name == asked or name.endswith(f".{asked}")


def _place(record: Execution) -> tuple[float, str]:
    return _place_of(record.submitted_at, record.id)


def _place_of(submitted_at: float, id: ExecutionId) -> tuple[float, str]:
    return submitted_at, str(id)
