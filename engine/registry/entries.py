"""Reads the registry of a store: which versions of what there are, and the packages they came with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from anyio import to_thread
from msgspec import Struct

from engine.model import layout
from engine.model.ids import EntityId, EntityKind
from engine.ports.blobstore import BlobStore
from engine.wire.compile_schedules import plan_summary
from engine.wire.entities import Entity
from engine.wire.links import contents
from engine.wire.package import Package, unpack

_PACKAGES = 16
"""Kept in memory."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """One version of one entity."""

    id: EntityId
    package: str
    """Digest of the package it came with, in which everything it refers to is linked."""
    content: str
    """SHA-256 (hex) of its canonical bytes."""
    registered_at: float
    """Seconds since the epoch."""
    code: str = ""
    """Of a task whose sources came along: what tells them from other sources."""


class Registry:
    def __init__(self, blobs: BlobStore) -> None:
        self.blobs = blobs
        self._packages: dict[str, tuple[Package, dict[EntityId, Entity]]] = {}

    async def find(self, ids: Sequence[EntityId]) -> dict[EntityId, Entry]:
        """Those that are registered."""
        uris = [self.blobs.uri(layout.registered(id)) for id in ids]
        found = await self.blobs.get_many(uris)
        return {id: _entry(data) for id, data in zip(ids, found, strict=True) if data is not None}

    async def packages(self, ids: Sequence[EntityId]) -> dict[EntityId, str]:
        """The digests of the packages that those which are registered came with."""
        return {id: entry.package for id, entry in (await self.find(ids)).items()}

    async def versions(self, kind: EntityKind, project: str, domain: str, name: str) -> list[Entry]:
        """Every version of an entity, the latest first."""
        return await self._below(layout.registered_versions(EntityId(kind, project, domain, name, "")))

    async def every(self, kind: EntityKind) -> list[Entry]:
        """Every version of everything of a kind, the latest first."""
        return await self._below(layout.registered_kind(kind))

    async def package(self, digest: str) -> Package:
        """Raises BlobNotFound."""
        return (await self._package(digest))[0]

    async def entity(self, entry: Entry) -> tuple[Entity, str]:
        """The message of a registered entity, and the folder with the modules of its tasks."""
        package, entities = await self._package(entry.package)
        roots = {link.id: link.code_root for link in package.links}
        return entities[entry.id], roots.get(entry.id, package.code_root)

    async def plan_summary(self, entry: Entry) -> tuple[str, str]:
        """Of a launch plan: the name of its workflow, and its schedule in words ("" = none)."""
        return plan_summary((await self.entity(entry))[0])

    async def _below(self, prefix: str) -> list[Entry]:
        uris = [uri async for uri in self.blobs.list(self.blobs.uri(prefix))]
        found = [_entry(data) for data in await self.blobs.get_many(uris) if data is not None]
        return sorted(found, key=lambda entry: (entry.registered_at, entry.id), reverse=True)

    async def _package(self, digest: str) -> tuple[Package, dict[EntityId, Entity]]:
        if digest not in self._packages:
            uri = self.blobs.uri(layout.package(digest))
            package = unpack(await self.blobs.get(uri), uri)
            if len(self._packages) >= _PACKAGES:
                del self._packages[next(iter(self._packages))]
            self._packages[digest] = package, await to_thread.run_sync(contents, package)
        return self._packages[digest]


def pack_entry(entry: Entry) -> bytes:
    return msgspec.msgpack.encode(entry)


def _entry(data: bytes) -> Entry:
    return msgspec.msgpack.decode(data, type=Entry)
