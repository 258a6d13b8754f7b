from __future__ import annotations

from msgspec import structs

from engine.adapters.storecache import StoreCache
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.blobstore import BlobStore
from engine.ports.cache import CacheEntry

SOURCE = AttemptKey(ExecutionId("p", "d", "e1"), "n0/0/n1", 2, 7, 1, "run")
KEY = CacheKey("p", "d", "Some.module/task name", "ab" * 32)
ENTRY = CacheEntry(b"\x00outputs\xff", SOURCE, 1234.5)


async def test_an_entry_comes_back_as_it_was_kept(store: BlobStore) -> None:
    cache = StoreCache(store)
    assert await cache.find(KEY) is None
    await cache.keep(KEY, ENTRY)
    assert await cache.find(KEY) == ENTRY


async def test_the_last_one_kept_counts(store: BlobStore) -> None:
    cache = StoreCache(store)
    await cache.keep(KEY, ENTRY)
    later = structs.replace(ENTRY, outputs=b"")
    await cache.keep(KEY, later)
    assert await cache.find(KEY) == later


async def test_another_engine_on_the_store_finds_it(store: BlobStore) -> None:
    await StoreCache(store).keep(KEY, ENTRY)
    assert await StoreCache(store).find(KEY) == ENTRY


async def test_keys_are_told_apart(store: BlobStore) -> None:
    cache = StoreCache(store)
    others = [
        structs.replace(KEY, project="q"),
        structs.replace(KEY, domain="e"),
        structs.replace(KEY, task="Some.module/task_name"),
        structs.replace(KEY, digest="ac" * 32),
    ]
    for key in others:
        await cache.keep(key, ENTRY)
    assert await cache.find(KEY) is None


async def test_no_execution_s_folder_holds_it(store: BlobStore) -> None:
    cache = StoreCache(store)
    await cache.keep(KEY, ENTRY)
    await store.delete(store.uri(layout.execution_prefix(SOURCE.execution)))
    assert await cache.find(KEY) == ENTRY
