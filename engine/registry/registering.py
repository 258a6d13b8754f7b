"""Registers a package: everything it refers to is linked into it, and each of its entities gets an entry of its own.

A version is for ever: the same content again changes nothing, other content is refused with what differs.
"""

from __future__ import annotations

import hashlib
from functools import partial

from anyio import to_thread
from msgspec import Struct

from engine.model import layout
from engine.model.errors import BadPackage
from engine.model.graph import Program
from engine.model.ids import EntityId, EntityKind
from engine.registry.claims import claim
from engine.registry.conflicts import refuse_others
from engine.registry.entries import Entry, Registry
from engine.registry.linking import link
from engine.wire.compile import Compiled, compile_package
from engine.wire.entities import canonical
from engine.wire.links import contents
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
    uri = registry.blobs.uri(layout.package(compiled.program.digest))
    await registry.blobs.put(uri, pack(linked), durable=True)
    known = await claim(registry, entries, partial(refuse_others, registry, own, entries, where))
    fresh = tuple(id for id in entries if id not in known)
    return Registered(linked, compiled.program, fresh, tuple(known))


def _refuse_contradictions(compiled: Compiled, where: str) -> None:
    """What this engine lacks is told when somebody wants to run it."""
    problems = [str(problem) for problem in compiled.problems if problem.severity is Severity.STRUCTURAL]
    if problems:
        raise BadPackage(where, problems)
