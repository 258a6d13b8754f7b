"""Every kind of binding data becomes the literal it stands for; every source is read once."""

from __future__ import annotations

import pytest
from flyteidl.core import literals_pb2, types_pb2

from engine.data.resolve import resolve
from engine.model.errors import Defect, ErrorKind, Permanent, Transient
from engine.model.graph import START_NODE, Binding
from tests.dataplane import (
    Literal,
    RecordingBlobs,
    parsed,
    promise,
    put,
    reference,
    scalar,
    serialized,
    serialized_literal,
    union,
    values_of,
)


def data_of(value: object) -> literals_pb2.BindingData:
    """Lists, dicts and scalars of bindings; a Binding stands for its own data."""
    if isinstance(value, Binding):
        return literals_pb2.BindingData.FromString(value.data)
    if isinstance(value, list):
        items = [data_of(item) for item in value]
        return literals_pb2.BindingData(collection=literals_pb2.BindingDataCollection(bindings=items))
    if isinstance(value, dict):
        named = {key: data_of(item) for key, item in value.items()}
        return literals_pb2.BindingData(map=literals_pb2.BindingDataMap(bindings=named))
    return literals_pb2.BindingData(scalar=scalar(value))


def bound(variable: str, value: object) -> Binding:
    return Binding(variable, data_of(value).SerializeToString())


async def test_constants_lists_maps_and_promises_nest() -> None:
    blobs = RecordingBlobs()
    n0 = await put(blobs, "n0/outputs.pb", serialized(o0=1, o1=["a"]))
    start = await put(blobs, "start/outputs.pb", serialized(x=2.5))
    value = {"k": [promise("", "n0"), {"x": promise("", "", "x")}, None, True], "s": promise("", START_NODE, "x")}
    bindings = [bound("a", value), promise("b", "n0", "o1"), bound("c", []), bound("d", {})]
    found = await resolve(blobs, bindings, {"n0": n0, START_NODE: start})
    assert values_of(found) == {"a": {"k": [1, {"x": 2.5}, None, True], "s": 2.5}, "b": ["a"], "c": [], "d": {}}
    assert sorted(blobs.reads) == sorted([(n0, len(blobs.objects[n0])), (start, len(blobs.objects[start]))])


async def test_an_empty_list_stays_a_list_and_an_empty_map_a_map() -> None:
    found = parsed(await resolve(RecordingBlobs(), [bound("c", []), bound("d", {})], {}))
    assert [found["c"].WhichOneof("value"), found["d"].WhichOneof("value")] == ["collection", "map"]


async def test_no_data_is_none_and_a_union_hint_makes_no_union() -> None:
    hinted = data_of(5)
    hinted.union.CopyFrom(literals_pb2.UnionInfo(targetType=types_pb2.LiteralType(simple=types_pb2.INTEGER)))
    found = parsed(await resolve(RecordingBlobs(), [Binding("a", b""), Binding("b", hinted.SerializeToString())], {}))
    assert found["a"].scalar.HasField("none_type")
    assert found["b"].scalar.primitive.integer == 5


async def test_a_promised_value_is_passed_on_byte_for_byte_even_one_that_no_parser_reads() -> None:
    blobs = RecordingBlobs()
    odd = b"\x0a\x03\xff\xff\xff"
    uri = await put(blobs, "n0/outputs.pb", b"\x0a\x0b\x0a\x02o0\x12\x05" + odd)
    assert await resolve(blobs, [promise("o0", "n0")], {"n0": uri}) == blobs.objects[uri]


async def test_a_reference_is_passed_on_and_its_value_not_read() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=reference("memory://store/gone.pb", 99)))
    found = parsed(await resolve(blobs, [promise("x", "n0")], {"n0": uri}))["x"]
    assert found.offloaded_metadata.size_bytes == 99


async def test_a_reference_comes_out_of_a_union() -> None:
    blobs = RecordingBlobs()
    inside = union(reference("memory://store/v.pb", 9))
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=inside, o1=union(4)))
    found = parsed(await resolve(blobs, [promise("x", "n0"), promise("y", "n0", "o1")], {"n0": uri}))
    assert found["x"].WhichOneof("value") == "offloaded_metadata"
    assert found["y"] == union(4)


async def test_the_older_way_to_bind_an_item_works() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=[5, 6, 7]))
    assert values_of(await resolve(blobs, [promise("x", "n0", "[2].o0")], {"n0": uri})) == {"x": 7}


async def test_an_empty_uri_is_an_empty_map() -> None:
    with pytest.raises(Permanent) as problem:
        await resolve(RecordingBlobs(), [promise("x", "", "a")], {START_NODE: ""})
    failure = problem.value.failure
    assert (failure.code, failure.kind) == ("BindingResolutionFailure", ErrorKind.SYSTEM)
    assert failure.message == "OutputsNotFoundError: input 'x': the workflow has no value 'a'; there is: nothing"


async def test_a_missing_output_names_the_node_and_what_is_there() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=1, o1=2))
    with pytest.raises(Permanent) as problem:
        await resolve(blobs, [promise("x", "n0", "o7")], {"n0": uri})
    assert problem.value.failure.kind is ErrorKind.SYSTEM
    assert problem.value.failure.message == (
        "OutputsNotFoundError: input 'x': node n0 has no value 'o7'; there is: o0, o1"
    )


async def test_outputs_that_are_gone_or_cut_name_their_uri() -> None:
    blobs = RecordingBlobs()
    with pytest.raises(Permanent, match=r"the outputs of node n0 are gone: no object at memory://store/x\.pb"):
        await resolve(blobs, [promise("x", "n0")], {"n0": blobs.uri("x.pb")})
    cut = await put(blobs, "cut.pb", serialized(o0=list(range(100)))[:-1])
    with pytest.raises(Permanent) as problem:
        await resolve(blobs, [promise("x", "n0")], {"n0": cut})
    assert problem.value.failure.kind is ErrorKind.SYSTEM
    assert "the outputs of node n0 at memory://store/cut.pb can't be read: the field at byte 0" in str(problem.value)


async def test_passing_trouble_of_the_store_is_not_a_verdict() -> None:
    blobs = RecordingBlobs()
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=1))
    blobs.failures = 1
    with pytest.raises(Transient):
        await resolve(blobs, [promise("x", "n0")], {"n0": uri})
    assert values_of(await resolve(blobs, [promise("x", "n0")], {"n0": uri})) == {"x": 1}


async def test_a_source_that_nobody_knows_is_a_defect() -> None:
    with pytest.raises(Defect, match="no outputs are known of n3"):
        await resolve(RecordingBlobs(), [promise("x", "n3")], {})


async def test_an_offloaded_constant_stays_a_reference() -> None:
    given = literals_pb2.BindingData(offloaded_metadata=reference("memory://store/v.pb", 7).offloaded_metadata)
    found = parsed(await resolve(RecordingBlobs(), [Binding("a", given.SerializeToString())], {}))["a"]
    assert found == reference("memory://store/v.pb", 7)
    assert Literal.FromString(serialized_literal(found)) == found
