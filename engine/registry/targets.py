"""What requests name, found again and again: versions stay what they are, so each is read once."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from engine.model.errors import BadInput, BlobNotFound
from engine.model.graph import NodeKind, Program
from engine.model.ids import EntityId
from engine.model.requests import ExecutionRequested
from engine.model.runnable import Runnable
from engine.registry.entries import Entry, Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.running import runnable
from engine.wire.lookup import find_entity

_KEPT = 256
_K = TypeVar("_K")
_V = TypeVar("_V")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class Targets:
    """`load` gives the program of a package; `refuses` says why the runner can't run one, or ""."""

    def __init__(
        self,
        registry: Registry,
        kinds: Collection[NodeKind],
        load: Callable[[str], Awaitable[Program]],
        refuses: Callable[[Program, EntityId], Awaitable[str]],
    ) -> None:
        self._registry, self._kinds, self._load, self._refuses = registry, kinds, load, refuses
        self._versions: dict[tuple[str, str, str], Entry] = {}
        """By project, domain and NAME:VERSION."""
        self._runnables: dict[tuple[EntityId, str], Runnable] = {}

    async def find(self, asked: ExecutionRequested) -> Runnable:
        """Raises BadInput with the reason, Transient, StoreFailed."""
        if asked.package:
            return await self._of_package(asked)
        entry = await self._entry(asked)
        key = (entry.id, entry.package)
        found = self._runnables.get(key)
        if found is None:
            found = await runnable(self._registry, entry, self._kinds)
            await self._check(found)
            _keep(self._runnables, key, found)
        return found

    async def _entry(self, asked: ExecutionRequested) -> Entry:
        """One without a version is looked up each time: another may have been registered since."""
        key = (asked.execution.project, asked.execution.domain, asked.entity)
        if key in self._versions:
            return self._versions[key]
        entry = await find(self._registry, asked.entity, *key[:2], RUNNABLE)
        if asked.entity.endswith(f":{entry.id.version}"):
            _keep(self._versions, key, entry)
        return entry

    async def _of_package(self, asked: ExecutionRequested) -> Runnable:
        if not _DIGEST.match(asked.package):
            raise BadInput(
                f"package {asked.package!r:.100} is no digest: expected 64 of 0-9 and a-f; nothing was started"
            )
        try:
            program = await self._load(asked.package)
        except BlobNotFound as error:
            raise BadInput(f"package {asked.package} is not in the store ({error}); nothing was started") from error
        entity = _in_program(program, asked.entity)
        target = program.launch_plans.get(entity) or program.workflows[entity]
        found = Runnable(entity, asked.package, target)
        await self._check(found)
        return found

    async def _check(self, found: Runnable) -> None:
        problem = await self._refuses(await self._load(found.package), found.entity)
        if problem:
            raise BadInput(f"{found.entity} can't be run: {problem}; nothing was started")


def _in_program(program: Program, text: str) -> EntityId:
    """NAME or NAME:VERSION. Raises BadInput that says what there is."""
    name, colon, version = text.rpartition(":")
    if colon:
        versions = {id.version for id in (*program.launch_plans, *program.workflows)}
        if version in versions:
            return find_entity(program, name)
    return find_entity(program, text)


def _keep(known: dict[_K, _V], key: _K, value: _V) -> None:
    if len(known) >= _KEPT:
        del known[next(iter(known))]
    known[key] = value
