"""A value of any size is hashed in small pieces, once: its hash is kept beside it."""

from __future__ import annotations

import anyio
import msgpack
import pytest
from flyteidl.core import literals_pb2

from engine.data.canonical import CHUNK
from engine.data.contenthash import content_hash
from tests.dataplane import Literal, RecordingBlobs, literal, reference, union
from tests.hashes import expected

pytestmark = pytest.mark.timeout(20)

MIB = 1024 * 1024


def binary(size: int) -> Literal:
    value = msgpack.packb({"k": b"x" * size})
    return Literal(scalar=literals_pb2.Scalar(binary=literals_pb2.Binary(value=value, tag="msgpack")))


VALUES = {
    "text": literal("é\U0001f600x" * MIB),
    "binary": binary(8 * MIB),
    "union": union("y" * 8 * MIB),
    "many items": literal([f"item {k}" * 20 for k in range(40_000)]),
    "large items": literal(["z" * 3 * MIB, 1, "y" * 3 * MIB, 2]),
    "map": literal({f"key {k}": "z" * MIB for k in range(8)}),
}


@pytest.mark.parametrize("kind", VALUES)
async def test_the_largest_read_is_small(kind: str) -> None:
    blobs = RecordingBlobs()
    uri = blobs.uri("x_offloaded_metadata.pb")
    await blobs.put(uri, VALUES[kind].SerializeToString())
    assert await content_hash(blobs, reference(uri).SerializeToString()) == expected(VALUES[kind])
    assert max(blobs.reads_of(uri)) <= 2 * CHUNK


async def test_it_is_made_once_however_many_ask() -> None:
    blobs = RecordingBlobs()
    uri = blobs.uri("x_offloaded_metadata.pb")
    await blobs.put(uri, literal([1, 2]).SerializeToString())
    found: list[str] = []

    async def ask() -> None:
        found.append(await content_hash(blobs, reference(uri).SerializeToString()))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    assert found == [expected(literal([1, 2]))] * 5
    assert len(blobs.reads_of(uri)) == 1
    assert blobs.objects[f"{uri}.hash"] == f"{len(blobs.objects[uri])} {found[0]}".encode()


async def test_a_hash_of_another_value_is_not_believed() -> None:
    blobs = RecordingBlobs()
    uri = blobs.uri("x_offloaded_metadata.pb")
    await blobs.put(uri, literal([1, 2, 3]).SerializeToString())
    await blobs.put(f"{uri}.hash", b"5 old")
    assert await content_hash(blobs, reference(uri).SerializeToString()) == expected(literal([1, 2, 3]))


async def test_a_reference_that_leads_to_a_reference() -> None:
    blobs = RecordingBlobs()
    first, second = blobs.uri("a_offloaded_metadata.pb"), blobs.uri("b_offloaded_metadata.pb")
    await blobs.put(second, literal("x").SerializeToString())
    await blobs.put(first, reference(second).SerializeToString())
    assert await content_hash(blobs, reference(first).SerializeToString()) == expected(literal("x"))
