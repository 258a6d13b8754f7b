from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from engine.model.errors import StoreRefused
from engine.ports.blobstore import BlobStore
from tests.contract.blob_adapters import root_uri

ODD = {
    "empty": "",
    "parent": "..",
    "climbing": "a/../../b",
    "dot": "./a",
    "dot inside": "a/./b",
    "double slash": "a//b",
    "absolute": "/etc/passwd",
    "trailing slash": "a/",
    "nul": "a\0b",
    "backslash": "..\\..\\b",
    "chain": "a::b",
    "lone surrogate": "a\udcffb",
    "long part": "x" * 256,
    "long part of wide letters": "漢" * 86,
    "long key": "/".join(["x" * 100] * 9),
    "temporary": ".propwash-tmp-1-2/a",
    "temporary inside": "a/.propwash-tmp-1-2",
}


async def _list(store: BlobStore, uri: str) -> None:
    async for _ in store.list(uri):
        pass


async def _write(store: BlobStore, uri: str) -> None:
    async with store.writer(uri):
        pass


CALLS: dict[str, Callable[[BlobStore, str], Awaitable[object]]] = {
    "get": lambda store, uri: store.get(uri),
    "get_many": lambda store, uri: store.get_many([uri]),
    "put": lambda store, uri: store.put(uri, b"x"),
    "writer": _write,
    "size": lambda store, uri: store.size(uri),
    "list": _list,
    "delete": lambda store, uri: store.delete(uri),
}


@pytest.mark.parametrize("key", ODD.values(), ids=ODD)
async def test_no_uri_is_made_of_an_odd_key(store: BlobStore, key: str) -> None:
    with pytest.raises(StoreRefused):
        store.uri(key)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_no_call_takes_an_odd_uri(store: BlobStore, call: Callable[[BlobStore, str], Awaitable[object]]) -> None:
    for key in ODD.values():
        uri = f"{root_uri(store)}/{key}"
        with pytest.raises(StoreRefused) as caught:
            await call(store, uri)
        assert repr(uri) in str(caught.value)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_no_call_leaves_the_root(store: BlobStore, call: Callable[[BlobStore, str], Awaitable[object]]) -> None:
    root = root_uri(store)
    for uri in ("", "x", "s3://bucket/x", "/etc/passwd", "file:///etc/passwd", f"{root}2/x", f"{root}x", root.upper()):
        with pytest.raises(StoreRefused) as caught:
            await call(store, uri)
        assert repr(uri) in str(caught.value)


async def test_the_root_itself_is_never_written_nor_deleted(store: BlobStore) -> None:
    await store.put(store.uri("a"), b"x")
    for call in ("put", "writer", "delete"):
        with pytest.raises(StoreRefused):
            await CALLS[call](store, root_uri(store))
    assert await store.get(store.uri("a")) == b"x"


async def test_the_longest_names_are_taken(store: BlobStore) -> None:
    for key in ("x" * 255, "漢" * 85, "/".join(["x" * 127] * 7)):
        await store.put(store.uri(key), b"x")
        assert await store.get(store.uri(key)) == b"x"
