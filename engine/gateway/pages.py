"""Pages of the list of executions: what is asked for, and where the next page begins."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import msgspec

from engine.gateway.bodies import Filter
from engine.gateway.guard import Refuse
from engine.model.ids import ExecutionId
from engine.model.state import Execution
from engine.ports.eventlog import Mark, Selection

MOST_ON_A_PAGE = 500
_Token = tuple[float, str, str, str]


def selection(asked: Filter, now: float) -> Selection:
    """One more than a page holds, which tells whether there is another one. Raises Refuse."""
    if not 1 <= asked.limit <= MOST_ON_A_PAGE:
        raise Refuse(400, "BadInput", f"limit: {asked.limit} is not from 1 to {MOST_ON_A_PAGE}")
    return Selection(
        phases=tuple(phase.value for phase in asked.phase),
        workflow=asked.workflow,
        since=None if asked.since_seconds is None else now - asked.since_seconds,
        children=asked.children,
        project=asked.project,
        domain=asked.domain,
        behind=_mark(asked.page) if asked.page else None,
        limit=asked.limit + 1,
    )


def following(found: Sequence[Execution], limit: int) -> str | None:
    """The token of the page behind this one; None: there is none."""
    if len(found) <= limit:
        return None
    last = found[limit - 1]
    token: _Token = (last.submitted_at, last.id.project, last.id.domain, last.id.name)
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode()


def _mark(page: str) -> Mark:
    try:
        at, *names = msgspec.json.decode(base64.urlsafe_b64decode(page), type=_Token)
    except (binascii.Error, ValueError) as error:
        raise Refuse(400, "BadInput", f"page: {page!r} is not what an answer gave as 'next'") from error
    return Mark(at, ExecutionId(*names))
