"""Which version of a launch plan is active: one of each name at most; only an active one starts by its schedule."""

from __future__ import annotations

import msgspec
from anyio import to_thread
from msgspec import Struct

from engine.model import layout
from engine.model.errors import BadInput
from engine.model.graph import LaunchPlanSpec
from engine.model.ids import EntityId
from engine.registry.entries import Entry, Registry
from engine.wire.compile import compile_package


class Activation(Struct, frozen=True):
    id: EntityId
    since: float
    """Seconds since the epoch. A rate counts from here, and nothing before is ever made up for."""


async def activate(registry: Registry, entry: Entry, now: float) -> Activation:
    """Make a version the active one of its name; if it is already, it stays so, since when it was.

    Raises BadInput for a schedule that can't be kept.
    """
    id = entry.id
    known = await active_version(registry, id)
    if known is not None and known.id == id:
        return known
    plan = await plan_of(registry, entry)
    if plan.schedule_problem:
        raise BadInput(f"{id}, version {id.version}, can't be activated: {plan.schedule_problem}; nothing was changed")
    made = Activation(id, now)
    await registry.blobs.put(_uri(registry, id), msgspec.msgpack.encode(made), durable=True)
    return made


async def deactivate(registry: Registry, id: EntityId) -> Activation | None:
    """Whatever version was active of this name; None: none was."""
    known = await active_version(registry, id)
    await registry.blobs.delete(_uri(registry, id))
    return known


async def active_version(registry: Registry, id: EntityId) -> Activation | None:
    (data,) = await registry.blobs.get_many([_uri(registry, id)])
    return None if data is None else msgspec.msgpack.decode(data, type=Activation)


async def every_active(registry: Registry) -> list[Activation]:
    uris = [uri async for uri in registry.blobs.list(registry.blobs.uri(layout.activations()))]
    found = await registry.blobs.get_many(sorted(uris))
    return [msgspec.msgpack.decode(data, type=Activation) for data in found if data is not None]


async def plan_of(registry: Registry, entry: Entry) -> LaunchPlanSpec:
    """A registered launch plan, compiled."""
    package = await registry.package(entry.package)
    compiled = await to_thread.run_sync(compile_package, package)
    return compiled.program.launch_plans[entry.id]


def _uri(registry: Registry, id: EntityId) -> str:
    return registry.blobs.uri(layout.activation(id.project, id.domain, id.name))
