"""Names of executions, as people give them, found again."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from engine.model.errors import BadInput
from engine.model.ids import ExecutionId
from engine.model.state import Execution

_NAMED = 10
"""Names that a message lists."""


def named(name: str, records: Sequence[Execution], home: Path) -> ExecutionId:
    """The execution of this name, or of `project:domain:name`.

    Raises BadInput where no execution has the name, or more than one.
    """
    found = [record.id for record in records if name in (record.id.name, str(record.id))]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{name!r} may mean any of {', '.join(map(str, found))}: give the whole of it")
    names = [record.id.name for record in records]
    if not names:
        raise BadInput(f"there is no execution {name!r}: {home} holds none")
    near = get_close_matches(name, names, _NAMED) or names[-_NAMED:]
    raise BadInput(f"there is no execution {name!r} in {home}; there are {some(near, len(names))}")


def some(names: Sequence[str], count: int | None = None) -> str:
    """The first of the names, and how many more there are: `a, b and 3 more`. `count`: in all, if not just these."""
    listed = names[:_NAMED]
    more = (len(names) if count is None else count) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
