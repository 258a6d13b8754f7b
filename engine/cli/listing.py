"""`propwash list`: the executions of a home, or those that a person asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.report import execution_table
from engine.cli.screen import say
from engine.gateway.choosing import Wanted
from engine.homes import HomeView, read_home
from engine.model.state import Execution


def list_executions(home: Path, wanted: Wanted, *, as_json: bool) -> int:
    return anyio.run(_list, home, wanted, as_json)


async def _list(home: Path, wanted: Wanted, as_json: bool) -> int:
    async with read_home(home) as view:
        records = await view.log.executions()
        found = wanted.choose(records, time.time())
        if as_json:
            return await _list_json(view, home, found)
    if found:
        say(execution_table(found, time.time()))
    else:
        say(f"none of the {len(records)} executions in {home} matches" if records else f"no execution in {home}")
    return ExitCode.SUCCEEDED


async def _list_json(view: HomeView, home: Path, records: Sequence[Execution]) -> int:
    from engine.cli.show import as_text, tell_problems
    from engine.gateway.documents import Documents

    documents = Documents(view.log, view.blobs, home)
    say(as_text([await documents.of(record.id) for record in records]))
    return tell_problems(documents)
