"""`propwash recover --dry-run`: each node with what would become of it, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from engine.adapters.storecache import StoreCache
from engine.cli.report import Table, columns
from engine.data.cachekey import task_key
from engine.data.framing import CorruptMessage
from engine.data.resolve import resolve
from engine.machine.execution import ExecutionState
from engine.machine.foresight import Fate, Lookup, Prospect, foreseen
from engine.model.errors import EngineError
from engine.ports.blobstore import BlobStore

if TYPE_CHECKING:
    from engine.wire.natural import Json


class Forecast:
    """`source`: the execution that would be recovered, with its program. `mended`: as it would begin with another."""

    def __init__(self, source: ExecutionState, blobs: BlobStore, mended: ExecutionState | None = None) -> None:
        self._source, self._blobs = source, blobs
        self._prospects: list[Prospect] = []
        if source.record.workflow in source.program.workflows:
            self._prospects = list(foreseen(source, mended))

    async def ask_cache(self) -> None:
        """Whether the results of tasks that must run are kept: asked where all inputs of a task are known by now."""
        if not self._source.record.overwrite_cache:
            self._prospects = [await self._asked(one, one.lookup) if one.lookup else one for one in self._prospects]

    async def _asked(self, one: Prospect, lookup: Lookup) -> Prospect:
        try:
            kept = await self._is_kept(lookup)
        except (EngineError, CorruptMessage) as problem:
            return structs.replace(one, why=f"{one.why}; the cache can't be asked: {problem}")
        if not kept:
            return structs.replace(one, why=f"{one.why}, and its result is not in the cache")
        return structs.replace(one, fate=Fate.CACHED, why=f"{one.why}, but its result is in the cache")

    async def _is_kept(self, lookup: Lookup) -> bool:
        policy = lookup.spec.cache
        assert policy is not None
        inputs = await resolve(self._blobs, lookup.spec.bindings, lookup.sources)
        key = await task_key(self._blobs, lookup.task, policy, inputs)
        return await StoreCache(self._blobs).find(key) is not None

    def text(self) -> str:
        """A line a node, and how many of each there are."""
        rows: Table = [("NODE", "WOULD BE", "BECAUSE")]
        rows += [(one.path, one.fate.value, one.why) for one in self._prospects]
        counts = Counter(one.fate for one in self._prospects)
        total = ", ".join(f"{counts[fate]} {fate.value}" for fate in Fate if counts[fate])
        return f"{columns(rows)}\n\n{total}; nothing was started"

    def document(self) -> Json:
        return {
            "execution": self._source.record.id.name,
            "nodes": [{"path": one.path, "fate": one.fate.value, "why": one.why} for one in self._prospects],
        }
