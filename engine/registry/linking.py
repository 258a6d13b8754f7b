"""Links a package: what it refers to and does not hold is copied from what is registered."""

from __future__ import annotations

from anyio import to_thread

from engine.model.errors import BadPackage
from engine.model.ids import EntityId
from engine.registry.entries import Registry
from engine.registry.finding import full_name
from engine.wire.entities import Entity
from engine.wire.links import contents, defined, missing, wanted, with_linked
from engine.wire.package import Package


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
        raise BadPackage(where, [f"it refers to the {_full(id)}, which is not registered" for id in absent])
    return with_linked(package, found) if found else package


def _full(id: EntityId) -> str:
    return f"{id.kind.value.replace('_', ' ')} {full_name(id)}"
