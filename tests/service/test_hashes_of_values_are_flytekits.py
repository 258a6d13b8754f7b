"""Cache keys are made of flytekit's own hashes: what its function computes, for what its types write."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.contenthash import content_hash
from tests.dataplane import literal, reference
from tests.hashes import expected, flytekits

if TYPE_CHECKING or find_spec("flytekit"):
    from flytekit.core.local_cache import _recursive_hash_placement
    from flytekit.models.literals import Literal as Model
    from flytekit.utils.pbhash import compute_hash_string

    from tests.flytekit_cases import CASES, written
else:
    CASES = {"all": None}

pytestmark = pytest.mark.service("flytekit")


@pytest.mark.parametrize("name", CASES)
async def test_the_hash_of_a_value_of_each_type(name: str) -> None:
    blobs = MemoryBlobs()
    value = written(CASES[name].value, CASES[name].python_type)
    said = compute_hash_string(value)
    assert flytekits(value) == said
    assert await content_hash(blobs, value.SerializeToString()) == said
    uri = blobs.uri("x_offloaded_metadata.pb")
    await blobs.put(uri, value.SerializeToString())
    assert await content_hash(blobs, reference(uri).SerializeToString()) == said


async def test_hashes_that_authors_gave_to_items() -> None:
    first, second = literal("path/of/this/run"), literal({"k": 1})
    first.hash = "content"
    second.map.literals["k"].hash = "one"
    value = literal([first, second, literal(3)])
    placed = _recursive_hash_placement(Model.from_flyte_idl(value)).to_flyte_idl()
    said = compute_hash_string(placed)
    assert expected(value) == said
    assert await content_hash(MemoryBlobs(), value.SerializeToString()) == said


async def test_a_large_value_that_the_sdk_offloads() -> None:
    blobs = MemoryBlobs()
    value = literal(["ä\U0001f600" * 40_000, *[f"item {k}" for k in range(30_000)], 2.0, None])
    uri = blobs.uri("x_offloaded_metadata.pb")
    await blobs.put(uri, value.SerializeToString())
    refers = reference(uri, value.ByteSize())
    refers.hash = compute_hash_string(value)
    assert await content_hash(blobs, refers.SerializeToString()) == refers.hash
    assert await content_hash(blobs, value.SerializeToString()) == refers.hash
