"""Takes names and versions for a package, as a whole: of two registrations at once one wins, and the other finds it.

All that a version of a project and domain holds stands in its latest list. Lists are numbered and never changed: who
adds to a version creates the next one, and starts again where somebody else was faster. Entries only repeat what a list
says, so that names are found without reading every list; a registration that was killed before they were all made is
completed by the next one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import groupby

import anyio
import msgspec
from msgspec import Struct

from engine.model import layout
from engine.model.ids import EntityId
from engine.registry.entries import Entry, Registry, pack_entry

AT_ONCE = 16
"""Entries that are written at the same time."""
Known = Mapping[EntityId, Entry]


class _List(Struct, frozen=True):
    entries: tuple[Entry, ...]


async def claim(registry: Registry, entries: Known, check: Callable[[Known], Awaitable[None]]) -> dict[EntityId, Entry]:
    """Register what is not registered yet; those that were, as they are.

    `check` gets those before anything is added, and raises where they are in the way.
    """
    known: dict[EntityId, Entry] = {}
    for place, ids in groupby(sorted(entries, key=_place), key=_place):
        known |= await _add(registry, place, {id: entries[id] for id in ids}, check)
    await _index(registry, {**entries, **known}.values())
    return known


async def _add(
    registry: Registry, place: tuple[str, str, str], mine: Known, check: Callable[[Known], Awaitable[None]]
) -> dict[EntityId, Entry]:
    folder = layout.version_lists(*place)
    while True:
        number, there = await _latest(registry, folder)
        known = {id: there[id] for id in mine if id in there}
        await check(known)
        if len(known) == len(mine):
            return known
        every = _List(tuple({**mine, **there}.values()))
        uri = registry.blobs.uri(f"{folder}/{number + 1:06}")
        if await registry.blobs.create(uri, msgspec.msgpack.encode(every)):
            return known


async def _latest(registry: Registry, folder: str) -> tuple[int, dict[EntityId, Entry]]:
    uris = [uri async for uri in registry.blobs.list(registry.blobs.uri(folder))]
    if not uris:
        return 0, {}
    last = max(uris)
    found = msgspec.msgpack.decode(await registry.blobs.get(last), type=_List)
    return int(last.rpartition("/")[2]), {entry.id: entry for entry in found.entries}


async def _index(registry: Registry, entries: Iterable[Entry]) -> None:
    """Make the entries that are not there."""
    wanted = {entry.id: entry for entry in entries}
    there = await registry.find(list(wanted))
    slots = anyio.CapacityLimiter(AT_ONCE)

    async def make(entry: Entry) -> None:
        async with slots:
            await registry.blobs.create(registry.blobs.uri(layout.registered(entry.id)), pack_entry(entry))

    async with anyio.create_task_group() as group:
        for id, entry in wanted.items():
            if id not in there:
                group.start_soon(make, entry)


def _place(id: EntityId) -> tuple[str, str, str]:
    return id.project, id.domain, id.version
