"""Registers a package: everything it refers to is linked into it, and each of its entities gets an entry of its own.

A version is for ever: the same content again changes nothing, other content is refused with what differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence

import anyio
from anyio import to_thread
from msgspec import Struct

from engine.model import layout
from engine.model.errors import BadInput, BadPackage
from engine.model.graph import Program
from engine.model.ids import EntityId, EntityKind
from engine.registry.entries import Entry, Registry, pack_entry
from engine.wire.compile import Compiled, compile_package
from engine.wire.differences import differences
from engine.wire.entities import Entity, canonical
from engine.wire.links import contents, defined, missing, wanted, with_linked
from engine.wire.package import Package, pack
from engine.wire.problems import Severity


class Registered(Struct, frozen=True):
    """What a registration did."""

    package: Package
    """With everything linked in."""
    program: Program
    fresh: tuple[EntityId, ...]
    """Registered just now."""
    known: tuple[EntityId, ...]
    """Registered before, with the same content."""


async def register_package(registry: Registry, package: Package, where: str, code: str, now: float) -> Registered:
    """Register every entity of a package, or none.

    `where` names it in messages; `code` tells its sources from others, "" where it brings none. Raises BadPackage for
    one that contradicts itself or refers to what is not registered, BadInput for a version that is taken.
    """
    own = await to_thread.run_sync(contents, package)
    linked = await link(registry, package, where)
    compiled = await to_thread.run_sync(compile_package, linked)
    _refuse_contradictions(compiled, where)
    entries = {
        id: Entry(
            id,
            compiled.program.digest,
            hashlib.sha256(canonical(entity)).hexdigest(),
            now,
            code if id.kind is EntityKind.TASK else "",
        )
        for id, entity in sorted(own.items())
    }
    known = await registry.find(list(entries))
    await _refuse_others(registry, own, entries, known, where)
    fresh = {id: entry for id, entry in entries.items() if id not in known}
    if fresh:
        uri = registry.blobs.uri(layout.package(compiled.program.digest))
        await registry.blobs.put(uri, pack(linked), durable=True)
        await _claim(registry, own, fresh, where)
    return Registered(linked, compiled.program, tuple(fresh), tuple(known))


async def link(registry: Registry, package: Package, where: str, *, strict: bool = True) -> Package:
    """The package with whatever it refers to and does not hold.

    Raises BadPackage naming what is not registered; not `strict`: that is left out, for `ensure_runnable` to tell.
    """
    found: dict[EntityId, tuple[Entity, str]] = {}
    absent: list[EntityId] = []
    waiting = await to_thread.run_sync(missing, package)
    own = {id for entity in contents(package).values() for id in defined(entity)} if waiting else set()
    while waiting := waiting - found.keys() - set(absent):
        entries = await registry.find(sorted(waiting))
        absent += sorted(waiting - entries.keys())
        for id, entry in entries.items():
            found[id] = await registry.entity(entry)
        held = {id for entity, _ in found.values() for id in defined(entity)} | own
        waiting = {id for entity, _ in found.values() for id in wanted(entity)} - held
    if absent and strict:
        raise BadPackage(where, [f"it refers to the {full(id)}, which is not registered" for id in absent])
    return with_linked(package, found) if found else package


def full(id: EntityId) -> str:
    return f"{id.kind.value.replace('_', ' ')} {id.project}:{id.domain}:{id.name}, version {id.version}"


def _refuse_contradictions(compiled: Compiled, where: str) -> None:
    """What this engine lacks is told when somebody wants to run it."""
    problems = [str(problem) for problem in compiled.problems if problem.severity is Severity.STRUCTURAL]
    if problems:
        raise BadPackage(where, problems)


async def _refuse_others(
    registry: Registry,
    own: Mapping[EntityId, Entity],
    entries: Mapping[EntityId, Entry],
    known: Mapping[EntityId, Entry],
    where: str,
) -> None:
    """Raises BadInput where an entity is registered with other content: what changed, what is new, what is gone."""
    changed = [id for id in known if (known[id].content, known[id].code) != (entries[id].content, entries[id].code)]
    if not changed:
        return
    lines = []
    for id in changed:
        parts = differences((await registry.entity(known[id]))[0], own[id])
        if known[id].code != entries[id].code:
            parts.append(f"code: {known[id].code or 'none of its own'} -> {entries[id].code or 'none of its own'}")
        lines.append(f"changed: {id}: {'; '.join(parts)}")
    lines += [f"new: {id}" for id in entries if id not in known]
    lines += [f"gone: {id}" for id in await _gone(registry, {known[id].package for id in changed}, entries)]
    listed = "".join(f"\n  - {line}" for line in lines)
    one = changed[0]
    raise BadInput(
        f"{where} can't be registered: version {one.version} of {one.project}:{one.domain} is registered with other "
        f"content; choose another version. Nothing was registered:{listed}"
    )


async def _gone(registry: Registry, packages: Collection[str], entries: Mapping[EntityId, Entry]) -> list[EntityId]:
    """What was registered with these packages and is not in this one."""
    found: set[EntityId] = set()
    for digest in packages:
        package = await registry.package(digest)
        found |= contents(package).keys() - {link.id for link in package.links}
    return sorted(found - entries.keys())


async def _claim(
    registry: Registry, own: Mapping[EntityId, Entity], fresh: Mapping[EntityId, Entry], where: str
) -> None:
    """Make the entries, all in one order, so that of two registrations of a version at once one gets the first.

    The other takes back what it made.
    """
    made: list[str] = []
    try:
        for id, entry in fresh.items():
            uri = registry.blobs.uri(layout.registered(id))
            if await registry.blobs.create(uri, pack_entry(entry)):
                made.append(uri)
                continue
            await _refuse_others(registry, own, fresh, await registry.find([id]), where)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _take_back(registry, made)
        raise


async def _take_back(registry: Registry, made: Sequence[str]) -> None:
    for uri in made:
        await registry.blobs.delete(uri)
