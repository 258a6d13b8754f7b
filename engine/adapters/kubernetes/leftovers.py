"""What is over for good goes away, also what turns up later: a late pod, a node that comes back with one."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from anyio.abc import TaskGroup
from msgspec import structs

from engine.adapters.kubernetes.naming import pod_name
from engine.adapters.kubernetes.pods import Objects
from engine.adapters.kubernetes.status import Thing
from engine.model.errors import Permanent
from engine.model.ids import AttemptKey

log = logging.getLogger(__name__)
MOST = 10_000


class Leftovers:
    """`wanted`: whether somebody waits for the end of an attempt."""

    def __init__(self, tasks: TaskGroup, wanted: Callable[[AttemptKey], bool]) -> None:
        self._tasks, self._wanted = tasks, wanted
        self._doomed: OrderedDict[AttemptKey, None] = OrderedDict()
        """The last attempts that are over for good, whose pods may still turn up."""
        self._removing: set[tuple[int, AttemptKey]] = set()

    def doom(self, key: AttemptKey) -> None:
        self._doomed[key] = None
        if len(self._doomed) > MOST:
            self._doomed.popitem(last=False)

    def spare(self, key: AttemptKey) -> None:
        self._doomed.pop(key, None)

    def doom_before(self, objects: Objects[Any], key: AttemptKey) -> None:
        """The pod of the attempt before this one is of no use any more."""
        if key.attempt:
            before = structs.replace(key, attempt=key.attempt - 1)
            self.doom(before)
            if pod_name(before) in objects.informer.pods:
                self.remove_soon(objects, before)

    def see(self, objects: Objects[Any], thing: Thing) -> None:
        """An object is new or has changed. One that should be gone is not believed, it is deleted."""
        key = thing.key
        if key is not None and key in self._doomed and not thing.leaving and not self._wanted(key):
            self.remove_soon(objects, key)

    def remove_soon(self, objects: Objects[Any], key: AttemptKey) -> None:
        if (id(objects), key) not in self._removing:
            self._removing.add((id(objects), key))
            self._tasks.start_soon(self._try_to_remove, objects, key)

    async def _try_to_remove(self, objects: Objects[Any], key: AttemptKey) -> None:
        try:
            await self.remove(objects, key)
        except Permanent as problem:
            log.warning("a pod can't be deleted", extra={"attempt": str(key), "cause": str(problem)})

    async def remove(self, objects: Objects[Any], key: AttemptKey) -> None:
        """Returns when nothing of it runs."""
        self._removing.add((id(objects), key))
        try:
            again = True
            while again:
                await objects.remove(key)
                thing = objects.informer.pods.get(pod_name(key))
                again = thing is not None and not (thing.leaving or thing.over or self._wanted(key))
        finally:
            self._removing.discard((id(objects), key))
