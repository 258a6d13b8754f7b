from __future__ import annotations

import pytest
from msgspec import structs

from engine.adapters import storecache
from engine.adapters.storecache import StoreCache
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.ids import AttemptKey, ExecutionId, label
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


async def test_all_that_is_kept_is_found_and_forgotten_one_by_one(
    store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storecache, "PAGE", 2)
    cache = StoreCache(store)
    keys = [structs.replace(KEY, domain=domain, digest=f"{k:064}") for domain in ("d", "e") for k in range(3)]
    for key in keys:
        await cache.keep(key, ENTRY)
        await store.put(store.uri(f"{layout.cached_values(key, SOURCE)}/value"), b"large")
    await store.put(store.uri(f"{layout.cache_prefix(structs.replace(KEY, digest='1' * 64))}/entry"), b"no entry")
    found = [one async for one in cache.kept()]
    assert sorted((one.project, one.domain, one.task) for one in found) == sorted(
        [("p", domain, label(KEY.task)) for domain in ("d", "e") for _ in range(3)]
    )
    assert {(one.source, one.stored_at) for one in found} == {(SOURCE, 1234.5)}

    (first,) = [one for one in found if one.uri == store.uri(layout.cache_prefix(keys[0]))]
    await cache.forget(first, values=False)
    assert await cache.find(keys[0]) is None
    assert await store.get(store.uri(f"{layout.cached_values(keys[0], SOURCE)}/value")) == b"large"
    (second,) = [one for one in found if one.uri == store.uri(layout.cache_prefix(keys[1]))]
    await cache.forget(second, values=True)
    assert await store.size(store.uri(f"{layout.cached_values(keys[1], SOURCE)}/value")) is None
    assert len([one async for one in cache.kept()]) == 4
