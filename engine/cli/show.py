"""`propwash list` and `propwash get`: a look at a home, whether an engine works on it or not."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.report import execution_table, failure_text, node_table, outcome, outputs_text
from engine.cli.screen import say, tell
from engine.homes import HomeView, read_home
from engine.model.errors import BadInput
from engine.model.ids import ExecutionId
from engine.model.state import Execution

if TYPE_CHECKING:
    from engine.cli.documents import Documents
    from engine.wire.natural import Json

_NAMED = 10
"""Names that a message lists."""


def list_executions(home: Path, *, as_json: bool) -> int:
    return anyio.run(_list, home, as_json)


def get(name: str, home: Path, *, as_json: bool) -> int:
    """`name`: an execution's name, or `project:domain:name` where the name alone is not enough."""
    return anyio.run(_get, name, home, as_json)


async def _list(home: Path, as_json: bool) -> int:
    async with read_home(home) as view:
        records = await view.log.executions()
        if as_json:
            return await _list_json(view, home, records)
    say(execution_table(records, time.time()) if records else f"no execution in {home}")
    return ExitCode.SUCCEEDED


async def _list_json(view: HomeView, home: Path, records: Sequence[Execution]) -> int:
    from engine.cli.documents import Documents

    documents = Documents(view.log, view.blobs, home)
    say(as_text([await documents.of(record.id) for record in records]))
    return tell_problems(documents)


async def _get(name: str, home: Path, as_json: bool) -> int:
    from engine.cli.documents import Documents

    async with read_home(home) as view:
        execution = _named(name, await view.log.executions(), home)
        documents = Documents(view.log, view.blobs, home)
        say(as_text(await documents.of(execution)) if as_json else await _describe(documents, execution))
        return tell_problems(documents)


async def _describe(documents: Documents, execution: ExecutionId) -> str:
    from engine.cli.whereabouts import stderr_of_failure

    snapshot = await documents.snapshot(execution)
    record, now = snapshot.execution, time.time()
    parts = [f"{outcome(record, now)}, {record.entity}"]
    parts.append(node_table(snapshot, await documents.state(snapshot), now))
    outputs = await documents.outputs(snapshot)
    if outputs is not None:
        parts.append(f"outputs {outputs_text(outputs)}")
    parts.append(failure_text(record, await stderr_of_failure(documents.log, documents.blobs, snapshot)))
    return "\n\n".join(filter(None, parts))


def as_text(document: Json) -> str:
    return json.dumps(document, indent=2)


def tell_problems(documents: Documents) -> int:
    """What could not be read, on stderr; the exit code that says so."""
    for problem in documents.problems:
        tell(f"Error: {problem}")
    return ExitCode.ENGINE_STOPPED if documents.problems else ExitCode.SUCCEEDED


def _named(name: str, records: Sequence[Execution], home: Path) -> ExecutionId:
    """Raises BadInput where no execution has the name, or more than one."""
    found = [record.id for record in records if name in (record.id.name, str(record.id))]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{name!r} may mean any of {', '.join(map(str, found))}: give the whole of it")
    names = [record.id.name for record in records]
    if not names:
        raise BadInput(f"there is no execution {name!r}: {home} holds none")
    near = get_close_matches(name, names, _NAMED) or names[-_NAMED:]
    more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
    raise BadInput(f"there is no execution {name!r} in {home}; there are {', '.join(near)}{more}")
