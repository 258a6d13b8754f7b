"""Refuses a registration whose version is taken by other content, with all that differs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.model.errors import BadInput
from engine.model.ids import EntityId
from engine.registry.entries import Entry, Registry
from engine.wire.differences import differences
from engine.wire.entities import Entity
from engine.wire.links import contents


async def refuse_others(
    registry: Registry,
    own: Mapping[EntityId, Entity],
    entries: Mapping[EntityId, Entry],
    where: str,
    known: Mapping[EntityId, Entry],
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
