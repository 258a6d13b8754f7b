"""The runtime-version gate: what a task that can't read references gets instead, and what it is told."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.gate import admit, reads_references
from engine.model.errors import ErrorKind, Permanent
from engine.model.graph import TaskSpec
from engine.model.limits import IncompatibleRuntime, OffloadLimits
from tests.dataplane import (
    Literal,
    RecordingBlobs,
    packed,
    parsed,
    put,
    reference,
    serialized,
    serialized_literal,
    union,
    values_of,
)
from tests.programs import task

OLD = task("old", version="1.13.13")
NEW = task("new", version="1.13.14")
FAIL = OffloadLimits(incompatible_runtime=IncompatibleRuntime.FAIL)
MATERIALISE = OffloadLimits()


@pytest.mark.parametrize(
    ("kind", "version", "reads"),
    [
        ("FLYTE_SDK", "1.13.14", True),
        ("FLYTE_SDK", "v1.14.0", True),
        ("FLYTE_SDK", "1.13.14b0", True),
        ("FLYTE_SDK", "1.16.0.dev3+gabc", True),
        ("FLYTE_SDK", "2.0.0", True),
        ("FLYTE_SDK", "1.13.13", False),
        ("FLYTE_SDK", "1.9.99", False),
        ("FLYTE_SDK", "0.0.0+develop", False),
        ("FLYTE_SDK", "1.14", False),
        ("FLYTE_SDK", "", False),
        ("OTHER", "1.16.0", False),
        ("", "", False),
    ],
)
def test_the_first_three_numbers_of_a_version_decide(kind: str, version: str, reads: bool) -> None:
    spec = structs.replace(NEW, runtime_type=kind, runtime_version=version)
    assert reads_references(spec, OffloadLimits()) is reads


def test_other_runtimes_may_be_declared_to_read_references() -> None:
    limits = OffloadLimits(supported_runtimes={"OTHER": "0.9.0"})
    assert reads_references(structs.replace(NEW, runtime_type="OTHER", runtime_version="0.10.0"), limits)
    assert not reads_references(NEW, limits)


async def admitted(spec: TaskSpec, inputs: bytes, limits: OffloadLimits, blobs: MemoryBlobs) -> bytes:
    uri = blobs.uri("n1/data/inputs.pb")
    await admit(blobs, spec, inputs, limits, uri)
    return blobs.objects[uri]


async def stored(blobs: MemoryBlobs, name: str, value: object) -> Literal:
    data = serialized_literal(value)
    return reference(await put(blobs, f"{name}_offloaded_metadata.pb", data), len(data))


async def test_a_task_that_reads_references_gets_them_and_nothing_is_fetched() -> None:
    blobs = RecordingBlobs()
    inputs = serialized(x=await stored(blobs, "x", [1]))
    assert await admitted(NEW, inputs, FAIL, blobs) == inputs
    assert await admitted(NEW, inputs, structs.replace(FAIL, enabled=False), blobs) == inputs
    assert blobs.reads == []


@pytest.mark.parametrize("limits", [FAIL, MATERIALISE, OffloadLimits(enabled=False)])
async def test_inputs_without_references_pass_to_every_task(limits: OffloadLimits) -> None:
    inputs = serialized(x=[1, "B\n", {"a": union(None)}])
    assert await admitted(OLD, inputs, limits, MemoryBlobs()) == inputs


async def test_failing_names_the_task_its_version_and_the_minimum_and_stores_nothing() -> None:
    blobs = MemoryBlobs()
    inputs = serialized(a=1, x={"deep": [1, await stored(blobs, "x", [1])]})
    before = dict(blobs.objects)
    with pytest.raises(Permanent) as problem:
        await admitted(OLD, inputs, FAIL, blobs)
    failure = problem.value.failure
    assert (failure.code, failure.kind, problem.value.recoverable) == (
        "LiteralOffloadingNotSupported",
        ErrorKind.USER,
        False,
    )
    assert failure.message == (
        "task old is registered with runtime FLYTE_SDK 1.13.13; runtimes that read offloaded values: "
        "FLYTE_SDK 1.13.14 or newer. It would receive an offloaded value (memory://store/x_offloaded_metadata.pb), "
        "and offloading.incompatible_runtime is 'fail'"
    )
    assert blobs.objects == before


@pytest.mark.parametrize("mode", list(IncompatibleRuntime))
async def test_a_reference_that_arrives_although_offloading_is_off_has_its_own_code(mode: IncompatibleRuntime) -> None:
    blobs = MemoryBlobs()
    limits = OffloadLimits(enabled=False, incompatible_runtime=mode)
    with pytest.raises(Permanent) as problem:
        await admitted(OLD, serialized(x=await stored(blobs, "x", [1])), limits, blobs)
    assert problem.value.failure.code == "LiteralOffloadingDisabled"
    assert problem.value.failure.kind is ErrorKind.USER


async def test_values_take_the_place_of_references_at_any_depth() -> None:
    blobs = MemoryBlobs()
    xs, one = await stored(blobs, "xs", ["a", "b"]), await stored(blobs, "one", packed({"k": 1}))
    nested = await stored(blobs, "nested", [await stored(blobs, "inner", 5), 6])
    chained = await stored(blobs, "chained", xs)
    found = await admitted(
        OLD, serialized(xs=xs, deep={"k": [one, 2]}, n=nested, c=chained, u=union(xs), i=3), MATERIALISE, blobs
    )
    assert values_of(found) == {
        "xs": ["a", "b"],
        "deep": {"k": [{"k": 1}, 2]},
        "n": [5, 6],
        "c": ["a", "b"],
        "u": ["a", "b"],
        "i": 3,
    }
    assert parsed(found)["u"].scalar.union.type == union(1).scalar.union.type


async def test_a_hash_stays_with_its_value() -> None:
    blobs = MemoryBlobs()
    marked = await stored(blobs, "xs", [1])
    marked.hash = "the author's"
    assert parsed(await admitted(OLD, serialized(x=marked), MATERIALISE, blobs))["x"].hash == "the author's"


async def test_values_are_put_inline_up_to_a_limit() -> None:
    blobs = MemoryBlobs()
    x, y = await stored(blobs, "x", "x" * 500), await stored(blobs, "y", "y" * 600)
    size = x.offloaded_metadata.size_bytes + y.offloaded_metadata.size_bytes
    inputs = serialized(x=x, y=y)
    enough = OffloadLimits(materialise_max=size)
    assert values_of(await admitted(OLD, inputs, enough, blobs)) == {"x": "x" * 500, "y": "y" * 600}
    with pytest.raises(Permanent) as problem:
        await admitted(OLD, inputs, OffloadLimits(materialise_max=size - 1), blobs)
    assert problem.value.failure.code == "LiteralOffloadingNotSupported"
    assert f"too large to be put inline: {size} bytes or more" in problem.value.failure.message


async def test_a_large_value_is_streamed() -> None:
    blobs = RecordingBlobs()
    found = await admitted(OLD, serialized(x=await stored(blobs, "x", "x" * 5_000_000), i=1), MATERIALISE, blobs)
    assert values_of(found) == {"x": "x" * 5_000_000, "i": 1}
    assert max(size for _, size in blobs.reads) < 1_100_000
    assert blobs.largest_write < 1_100_000


async def test_a_reference_that_leads_nowhere_or_to_itself_is_a_verdict() -> None:
    blobs = MemoryBlobs()
    with pytest.raises(Permanent, match=r"memory://store/gone\.pb could not be read: no object"):
        await admitted(OLD, serialized(x=reference("memory://store/gone.pb")), MATERIALISE, blobs)
    uri = blobs.uri("loop.pb")
    await blobs.put(uri, serialized_literal(reference(uri)))
    with pytest.raises(Permanent, match="deep or in a circle"):
        await admitted(OLD, serialized(x=reference(uri)), MATERIALISE, blobs)
