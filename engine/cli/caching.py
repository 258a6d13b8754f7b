"""`propwash cache`: the results of tasks that a store keeps, by task, and their removal."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

from config.settings import Settings
from engine.adapters.storecache import Kept, StoreCache
from engine.cli.exitcodes import ExitCode
from engine.cli.naming import some
from engine.cli.report import Table, columns
from engine.cli.request import load_settings
from engine.cli.screen import say
from engine.cli.show import as_text
from engine.gateway.document import iso
from engine.gateway.documents import Documents
from engine.homes import read_home
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.ids import label
from engine.reach import answers
from engine.registries import open_registry

if TYPE_CHECKING:
    from engine.wire.natural import Json


class Results(Struct, frozen=True):
    """What is kept of one task."""

    project: str
    domain: str
    task: str
    """Its name; where nobody knows that any more, the folder's."""
    folder: str
    kept: tuple[Kept, ...]
    """The oldest first."""


class Unwanted(Struct, frozen=True):
    tasks: tuple[str, ...]
    """Names, or endings of them after a dot; empty: all."""
    older_than: float | None
    """Seconds."""
    values: bool
    """What the entries refer to, too."""


def list_results(home: Path, config: Path | None, sets: Sequence[str], *, as_json: bool) -> int:
    return anyio.run(partial(_list, home, load_settings(config, sets), as_json))


def remove_results(home: Path, config: Path | None, sets: Sequence[str], unwanted: Unwanted) -> int:
    """Raises BadInput where nothing is kept of a task, and for values while an engine works."""
    return anyio.run(partial(_remove, home, load_settings(config, sets), unwanted))


async def _list(home: Path, settings: Settings, as_json: bool) -> int:
    found = await _results(home, settings)
    if as_json:
        say(as_text([_document(one) for one in found]))
    else:
        say(_table(found) if found else f"no results are kept in {home}")
    return ExitCode.SUCCEEDED


async def _remove(home: Path, settings: Settings, unwanted: Unwanted) -> int:
    if unwanted.values and await answers(home):
        raise BadInput(f"an engine works on home {home}, whose tasks may read these values; nothing was removed")
    found = await _results(home, settings)
    chosen = [one for name in unwanted.tasks for one in _named(name, found)] if unwanted.tasks else found
    before = float("inf") if unwanted.older_than is None else time.time() - unwanted.older_than
    async with open_registry(home, settings) as registry:
        cache = StoreCache(registry.blobs)
        for one in chosen:
            old = [kept for kept in one.kept if kept.stored_at < before]
            for kept in old:
                await cache.forget(kept, values=unwanted.values)
            say(f"removed {len(old)} of {len(one.kept)} results of {one.task} in {one.project}:{one.domain}")
        if unwanted.values and not unwanted.tasks and unwanted.older_than is None:
            # Also the values of entries that were removed without them.
            await registry.blobs.delete(registry.blobs.uri(layout.CACHE_PREFIX))
    if not chosen:
        say(f"no results are kept in {home}")
    return ExitCode.SUCCEEDED


async def _results(home: Path, settings: Settings) -> list[Results]:
    groups: defaultdict[tuple[str, str, str], list[Kept]] = defaultdict(list)
    found = []
    async with read_home(home, settings) as view:
        async for kept in StoreCache(view.blobs).kept():
            groups[kept.project, kept.domain, kept.task].append(kept)
        documents = Documents(view.log, view.blobs, home)
        for (project, domain, folder), several in groups.items():
            several.sort(key=lambda kept: kept.stored_at)
            task = await _task(documents, several)
            found.append(Results(project, domain, task or folder, folder, tuple(several)))
    return sorted(found, key=lambda one: (one.task, one.project, one.domain))


async def _task(documents: Documents, several: Sequence[Kept]) -> str:
    """The name of the task, as an execution tells it whose result is kept; "" if none does."""
    for kept in reversed(several):
        source = kept.source
        snapshot = await documents.log.snapshot(source.execution)
        if snapshot is None:
            continue
        state = await documents.state(snapshot)
        for task in (*state.program.tasks, *(id for plan in state.plans.values() for id in plan.tasks)):
            if label(task.name) == kept.task:
                return task.name
    return ""


def _named(name: str, found: Sequence[Results]) -> list[Results]:
    chosen = [
        one
        for one in found
        if name in (one.task, one.folder) or label(name) == one.folder or one.task.endswith(f".{name}")
    ]
    if not chosen:
        there = some([one.task for one in found])
        raise BadInput(f"no results are kept of task {name!r}; there are {there or 'none at all'}; nothing was removed")
    return chosen


def _table(found: Sequence[Results]) -> str:
    rows: Table = [("TASK", "PROJECT", "DOMAIN", "RESULTS", "OLDEST", "NEWEST")]
    for one in found:
        ends = (_moment(one.kept[0].stored_at), _moment(one.kept[-1].stored_at))
        rows.append((one.task, one.project, one.domain, str(len(one.kept)), *ends))
    return columns(rows)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _document(one: Results) -> Json:
    return {
        "task": one.task,
        "project": one.project,
        "domain": one.domain,
        "results": len(one.kept),
        "oldest": iso(one.kept[0].stored_at),
        "newest": iso(one.kept[-1].stored_at),
    }
