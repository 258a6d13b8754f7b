from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import anyio
import pytest

from engine.model.errors import BlobNotFound, Transient
from engine.ports.blobstore import BlobStore, BlobWriter
from tests.contract.blob_adapters import listed, root_uri

MIB = 1024 * 1024


class Broken(Exception):
    pass


async def break_off(writing: AbstractAsyncContextManager[BlobWriter], size: int) -> None:
    async with writing as writer:
        await writer.write(b"x" * size)
        raise Broken


@pytest.mark.parametrize(
    "sizes",
    [[], [0], [1], [100] * 1000, [MIB], [MIB - 1, 1, 1], [3 * MIB + 5], [10, 2 * MIB, 10], [300_000] * 11],
    ids=lambda sizes: f"{len(sizes)} chunks of {sizes[:3]}",
)
async def test_chunks_of_any_size_make_one_object(store: BlobStore, sizes: list[int]) -> None:
    uri = store.uri("a/b")
    chunks = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    async with store.writer(uri) as writer:
        for number, chunk in enumerate(chunks):
            await writer.write(memoryview(chunk) if number % 2 else chunk)
        with pytest.raises(BlobNotFound):
            await store.get(uri)
        assert await listed(store, root_uri(store)) == []
    assert await store.get(uri) == b"".join(chunks)
    assert await listed(store, root_uri(store)) == [uri]


async def test_the_callers_buffer_may_be_used_again_after_a_write(store: BlobStore) -> None:
    uri = store.uri("a")
    buffer = bytearray(2 * MIB)
    async with store.writer(uri) as writer:
        for number in range(1, 4):
            buffer[:] = bytes([number]) * len(buffer)
            await writer.write(memoryview(buffer))
            await writer.write(memoryview(buffer)[:7])
            buffer[:] = bytes(len(buffer))
    assert await store.get(uri) == b"".join(bytes([number]) * (2 * MIB + 7) for number in range(1, 4))


@pytest.mark.parametrize("size", [10, 5 * MIB])
async def test_an_error_leaves_what_was_there_before(store: BlobStore, size: int) -> None:
    uri = store.uri("a/b")
    await store.put(uri, b"old")
    for key in ("a/b", "a/other"):
        with pytest.raises(Broken):
            await break_off(store.writer(store.uri(key)), size)
    assert await store.get(uri) == b"old"
    assert await listed(store, root_uri(store)) == [uri]


@pytest.mark.parametrize("size", [10, 5 * MIB])
async def test_a_cancellation_leaves_nothing(store: BlobStore, size: int) -> None:
    with anyio.CancelScope() as scope:
        async with store.writer(store.uri("a/b")) as writer:
            await writer.write(b"x" * size)
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert await store.size(store.uri("a/b")) is None
    assert await listed(store, root_uri(store)) == []


async def test_a_cancellation_within_a_write_leaves_nothing(store: BlobStore) -> None:
    with anyio.CancelScope() as scope:
        async with store.writer(store.uri("a/b")) as writer:
            scope.cancel()
            await writer.write(b"x" * 5 * MIB)
    assert scope.cancelled_caught
    assert await listed(store, root_uri(store)) == []


async def test_a_write_cut_short_is_never_passed_off_as_whole(store: BlobStore) -> None:
    async def write(more: bytes) -> None:
        async with store.writer(store.uri("a/b")) as writer:
            await writer.write(b"x" * MIB)
            with anyio.CancelScope() as scope:
                scope.cancel()
                await writer.write(b"y" * 5 * MIB)
            assert scope.cancelled_caught
            if more:
                await writer.write(more)

    for more in (b"", b"z", b"z" * 5 * MIB):
        with pytest.raises(Transient, match="cut short"):
            await write(more)
    assert await listed(store, root_uri(store)) == []


async def test_two_writers_of_one_name_each_write_whole_objects(store: BlobStore) -> None:
    uri = store.uri("a")

    async def write(letter: bytes) -> None:
        async with store.writer(uri) as writer:
            for _ in range(5):
                await writer.write(letter * MIB)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, b"x")
        tasks.start_soon(write, b"y")
    assert await store.get(uri) in (b"x" * 5 * MIB, b"y" * 5 * MIB)
