"""Names of executions, as people give them, found again."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from engine.model.errors import BadInput
from engine.model.state import Execution
from engine.ports.eventlog import Names

_NAMED = 10
"""Names that a message lists."""


async def named(name: str, names: Names, home: Path) -> Execution:
    """The execution of this name, or of `project:domain:name`.

    Raises BadInput where no execution has the name, or more than one; LogFailed.
    """
    found = await names.namesakes(name)
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{name!r} may mean any of {', '.join(str(it.id) for it in found)}: give the whole of it")
    alike = await names.alike(name, _NAMED)
    if not alike.count:
        raise BadInput(f"there is no execution {name!r}: {home} holds none")
    near = list(alike.begun_with) or get_close_matches(name, alike.newest, _NAMED)
    if near:
        raise BadInput(f"there is no execution {name!r} in {home}; did you mean {' or '.join(near)}?")
    shown = [*reversed(alike.newest[-_NAMED:])]
    first = "there are" if len(shown) == alike.count else "the newest are"
    raise BadInput(f"there is no execution {name!r} in {home}; {first} {some(shown, alike.count)}")


def some(names: Sequence[str], count: int | None = None) -> str:
    """The first of the names, and how many more there are: `a, b and 3 more`. `count`: in all, if not just these."""
    listed = names[:_NAMED]
    more = (len(names) if count is None else count) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
