"""`propwash get`: a look at one execution of a home, whether an engine works on it or not."""

from __future__ import annotations

import json
import shlex
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.naming import named
from engine.cli.screen import say, tell
from engine.homes import read_home
from engine.model.ids import ExecutionId
from engine.reach import answers, waits

if TYPE_CHECKING:
    from config.settings import Settings
    from engine.cli.answers import Place
    from engine.gateway.documents import Documents
    from engine.wire.natural import Json


def get(name: str, home: Path, settings: Settings | None, *, as_json: bool) -> int:
    """`name`: an execution's name, or `project:domain:name` where the name alone is not enough."""
    if settings is not None and settings.kafka.bootstrap is not None:
        from engine.cli import cluster_looks

        return anyio.run(cluster_looks.get, name, home, settings, as_json)
    return anyio.run(_get, name, home, settings, as_json)


async def _get(name: str, home: Path, settings: Settings | None, as_json: bool) -> int:
    from engine.gateway.documents import Documents

    async with read_home(home, settings) as view:
        execution = (await named(name, view.names, home)).id
        documents = Documents(view.log, view.blobs, home, partial(waits, home))
        record = (await documents.snapshot(execution)).execution
        left = not record.terminal and not await answers(home)
        if as_json:
            say(as_text({**await documents.full(execution), **({} if record.terminal else {"worked_on": not left})}))
        else:
            say(await describe(documents, execution, time.time()))
            if left:
                say(f"\nno engine works on this home; it goes on with: propwash resume --home {shlex.quote(str(home))}")
        return tell_problems(documents)


async def describe(documents: Documents, execution: ExecutionId, now: float, place: Place | None = None) -> str:
    """What people read of an execution: its outcome, the tree of its nodes, and its outputs or its error.

    place: where its gates are answered, if not in the home.
    """
    from engine.cli.past import board_of
    from engine.cli.report import failure_text, outcome, outputs_text
    from engine.cli.tree import Tree, choose
    from engine.cli.waits import waits_text
    from engine.cli.whereabouts import stderr_of_failure

    snapshot = await documents.snapshot(execution)
    record = snapshot.execution
    board = await board_of(documents, snapshot)
    rows, _ = choose(board)
    parts = [f"{outcome(record, now)}, {record.entity}", "\n".join(Tree().lines(rows, now))]
    left = [(title, state, await documents.notes(state)) for title, state in board.unfinished()]
    parts.append(waits_text(left, now, place or documents.home))
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
