"""`m[2]`, `m["k"]`, `m.name`: the same answer whether the value is inline, offloaded, msgpack or Struct (S18 a-c)."""

from __future__ import annotations

from typing import Any

import pytest
from flyteidl.core import literals_pb2
from google.protobuf import struct_pb2

from engine.data.gather import gather
from engine.data.resolve import resolve
from engine.model.errors import ErrorKind, Permanent
from engine.model.limits import OffloadLimits
from tests.dataplane import (
    ALWAYS,
    NEVER,
    Literal,
    RecordingBlobs,
    finished_map,
    gathering,
    packed,
    parsed,
    promise,
    put,
    reference,
    serialized,
    serialized_literal,
    union,
    values_of,
)
from tests.programs import mapped, task


async def looked_up(value: object, *path: str | int) -> Any:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=value))
    return values_of(await resolve(blobs, [promise("x", "n1", "o0", *path)], {"n1": uri}))["x"]


@pytest.fixture(params=[ALWAYS, NEVER], ids=["offloaded", "inline"])
async def gathered(request: pytest.FixtureRequest) -> tuple[RecordingBlobs, str]:
    limits: OffloadLimits = request.param
    blobs = RecordingBlobs()
    spec = mapped(task("sq"))
    return blobs, await gather(blobs, limits, gathering(spec, await finished_map(blobs, [1, 4, 9])))


@pytest.mark.parametrize(("index", "value"), [(2, 9), (-1, 9), (0, 1), (-3, 1)])
async def test_an_item_of_a_map_nodes_output(gathered: tuple[RecordingBlobs, str], index: int, value: int) -> None:
    blobs, uri = gathered
    found = await resolve(blobs, [promise("x", "n1", "o0", index)], {"n1": uri})
    assert values_of(found) == {"x": value}


@pytest.mark.parametrize("index", [7, -4, 3])
async def test_an_index_out_of_range_names_it_and_the_length(gathered: tuple[RecordingBlobs, str], index: int) -> None:
    blobs, uri = gathered
    with pytest.raises(Permanent) as problem:
        await resolve(blobs, [promise("x", "n1", "o0", index)], {"n1": uri})
    failure = problem.value.failure
    assert (failure.code, failure.kind) == ("BindingResolutionFailure", ErrorKind.USER)
    assert failure.message == (
        f"PromiseAttributeResolveError: input 'x': n1.o0[{index}]: index {index} is out of range: the list has 3 items"
    )


async def test_an_item_of_an_offloaded_list_is_one_read_of_the_index_and_one_of_the_list() -> None:
    blobs = RecordingBlobs()
    spec = mapped(task("sq"))
    uri = await gather(blobs, ALWAYS, gathering(spec, await finished_map(blobs, list(range(300)))))
    stored = parsed(blobs.objects[uri])["o0"].offloaded_metadata.uri
    before, blobs.reads = dict(blobs.objects), []
    assert values_of(await resolve(blobs, [promise("x", "n1", "o0", 299)], {"n1": uri})) == {"x": 299}
    assert len(blobs.reads) == 3
    assert len(blobs.reads_of(stored)) == 1
    assert blobs.objects == before


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": [10, 20]}}, ("a", "b", 1), 20),
        ([[1, 2], [3]], (-1, 0), 3),
        (union([1, 2]), (1,), 2),
        ([union({"a": 5})], (0, "a"), 5),
        (packed({"a": {"b": [1.5, True, "t", None]}}), ("a", "b", 0), 1.5),
        (packed({"a": {"b": [1.5, True, "t", None]}}), ("a", "b", 1), True),
        (packed({"a": {"b": [1.5, True, "t", None]}}), ("a", "b", 2), "t"),
        (packed({"a": {"b": [1.5, True, "t", None]}}), ("a", "b", -1), None),
        (packed({"a": {"b": [1, {"c": 2}]}}), ("a", "b"), [1, {"c": 2}]),
        (packed({"a": {"b": 1}}), ("a",), {"b": 1}),
        (packed({3: "three"}), (3,), "three"),
        (packed([[1], [2]]), (1, 0), 2),
        (packed(2**63 - 1), (), 2**63 - 1),
    ],
)
async def test_a_path_leads_to_a_value(value: object, path: tuple[str | int, ...], found: object) -> None:
    assert await looked_up(value, *path) == found


async def test_a_msgpack_list_becomes_a_list_of_msgpack_values() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=packed({"xs": [1.0, {"a": 2}]})))
    found = parsed(await resolve(blobs, [promise("x", "n1", "o0", "xs")], {"n1": uri}))["x"]
    assert [item.scalar.binary.tag for item in found.collection.literals] == ["msgpack", "msgpack"]


async def test_a_struct_gives_floats_lists_and_structs() -> None:
    struct = struct_pb2.Struct()
    struct.update({"a": [1, "t", {"b": True}, None]})
    value = Literal(scalar=literals_pb2.Scalar(generic=struct))
    blobs = RecordingBlobs()
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=value))
    bindings = [promise("xs", "n1", "o0", "a"), promise("x", "n1", "o0", "a", 0), promise("y", "n1", "o0", "a", 2, "b")]
    found = parsed(await resolve(blobs, bindings, {"n1": uri}))
    kinds = [item.scalar.WhichOneof("value") for item in found["xs"].collection.literals]
    assert kinds == ["primitive", "primitive", "generic", "none_type"]
    assert found["x"].scalar.primitive.WhichOneof("value") == "float_value"
    assert found["y"].scalar.primitive.boolean


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ([1], ("a",), "key 'a' was asked of a list, which has 1 item"),
        ([], ("a",), "key 'a' was asked of a list, which has no items"),
        ([], (0,), "index 0 is out of range: the list has no items"),
        ({"a": 1}, ("b",), "key 'b' is not in the map, which has: 'a'"),
        ({"a": 1}, (0,), "index 0 was asked of a map, which has text keys: 'a'"),
        (5, (0,), "0 can't be looked up in a primitive value"),
        (None, ("a",), "'a' can't be looked up in a none type value"),
        (packed({"a": 1}), ("b",), "key 'b' is not there; there are: 'a'"),
        (packed({"a": 1}), ("a", "b"), "'b' can't be looked up in a value of type int"),
        (packed({"a": [1]}), ("a", 4), "index 4 is out of range: the list has 1 item"),
        (packed({"a": b"x"}), ("a",), "a value of type bytes can't be passed on as an input"),
    ],
)
async def test_a_step_that_can_not_be_taken_is_the_users_error(
    value: object, path: tuple[str | int, ...], reason: str
) -> None:
    with pytest.raises(Permanent) as problem:
        await looked_up(value, *path)
    assert problem.value.failure.kind is ErrorKind.USER
    assert problem.value.failure.message.startswith("PromiseAttributeResolveError: input 'x': n1.o0[")
    assert problem.value.failure.message.endswith(reason)


async def test_a_number_above_64_bits_has_flytes_code() -> None:
    with pytest.raises(Permanent, match=r"InvalidPrimitiveType: .* the number 9223372036854775808 does not fit"):
        await looked_up(packed({"a": 2**63}), "a")


async def test_binary_data_that_is_cut_is_not_the_users_error() -> None:
    broken = packed({"a": [1, 2, 3]})
    broken.scalar.binary.value = broken.scalar.binary.value[:-1]
    with pytest.raises(Permanent) as problem:
        await looked_up(broken, "a")
    assert problem.value.failure.kind is ErrorKind.SYSTEM


async def test_a_reference_at_the_end_of_a_path_stays_a_reference() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=[reference("memory://store/v_offloaded_metadata.pb", 4)]))
    found = parsed(await resolve(blobs, [promise("x", "n1", "o0", 0)], {"n1": uri}))["x"]
    assert found.offloaded_metadata.uri == "memory://store/v_offloaded_metadata.pb"
    assert len(blobs.reads) == 1


async def test_references_may_lead_to_each_other_but_not_in_a_circle() -> None:
    blobs = RecordingBlobs()
    value = await put(blobs, "value.pb", serialized_literal([1, 2]))
    first = await put(blobs, "first.pb", serialized_literal(reference(value)))
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=reference(first), bad=reference("memory://store/loop.pb")))
    await put(blobs, "loop.pb", serialized_literal(reference("memory://store/loop.pb")))
    assert values_of(await resolve(blobs, [promise("x", "n1", "o0", 1)], {"n1": uri})) == {"x": 2}
    with pytest.raises(Permanent, match="16 references lead to each other"):
        await resolve(blobs, [promise("x", "n1", "bad", 1)], {"n1": uri})


async def test_a_reference_that_leads_nowhere_names_its_uri() -> None:
    with pytest.raises(Permanent, match=r"memory://store/gone\.pb could not be read: no object at"):
        await looked_up(reference("memory://store/gone.pb"), 1)
    with pytest.raises(Permanent, match="s3://elsewhere/x could not be read"):
        await looked_up(reference("s3://elsewhere/x"), "a")


async def test_an_offloaded_dictionary_is_walked_too() -> None:
    blobs = RecordingBlobs()
    stored = await put(blobs, "d.pb", serialized_literal({"a": [7, 8]}))
    uri = await put(blobs, "n1/outputs.pb", serialized(o0=reference(stored)))
    assert values_of(await resolve(blobs, [promise("x", "n1", "o0", "a", -1)], {"n1": uri})) == {"x": 8}
