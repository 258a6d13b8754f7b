"""msgpack holds datetimes as text and durations as seconds, which tasks read only as msgpack."""

from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.data.resolve import resolve
from tests.dataplane import RecordingBlobs, packed, parsed, put, serialized
from tests.literal_types import INT, STR
from tests.packages import branch, condition, given, graph_of, items, node, output, task, workflow

TIME, SPAN = LiteralType(simple=SimpleType.DATETIME), LiteralType(simple=SimpleType.DURATION)
RECORD = LiteralType(simple=SimpleType.STRUCT)


def maybe(kind: LiteralType) -> LiteralType:
    found = LiteralType()
    found.union_type.variants.extend([kind, LiteralType(simple=SimpleType.NONE)])
    return found


async def received(taken: LiteralType, value: object) -> object:
    """What a task that takes `taken` gets of the field `f` of a record: a msgpack value whole, else the literal."""
    made = task("m.make", {}, {"o0": RECORD})
    takes = task("m.t", {"a": taken}, {"o0": STR})
    taking = node("n1", {"a": output("n0", "o0", "f")})
    graph = graph_of(made, takes, workflow("m.w", node("n0", runs="m.make"), taking))
    blobs = RecordingBlobs()
    uri = await put(blobs, "n0/outputs.pb", serialized(o0=packed({"f": value})))
    found = parsed(await resolve(blobs, graph.nodes["n1"].bindings, {"n0": uri}))["a"]
    return found == packed(value) or found.scalar.WhichOneof("value")


@pytest.mark.parametrize("kind", [TIME, SPAN, maybe(TIME), maybe(SPAN)])
@pytest.mark.parametrize("value", ["2024-01-01T00:00:00Z", 3.5, 90])
async def test_where_a_time_is_declared(kind: LiteralType, value: object) -> None:
    assert await received(kind, value) is True


@pytest.mark.parametrize("kind", [STR, INT, maybe(STR)])
async def test_elsewhere_it_becomes_a_primitive(kind: LiteralType) -> None:
    assert await received(kind, "x") == "primitive"


async def test_none_stays_none() -> None:
    assert await received(maybe(TIME), None) == "none_type"


def test_lists_the_outputs_of_workflows_and_what_branches_choose_from_are_told_too() -> None:
    times = LiteralType(collection_type=TIME)
    entities = [
        task("m.make", {}, {"o0": RECORD}),
        task("m.t", {"a": times}, {"o0": TIME}),
        task("m.b", {"a": TIME}, {"o0": TIME}),
    ]
    value = output("n0", "o0", "f")
    choice = branch(
        "n2",
        {".n": given("n")},
        (condition(".n", "EQ", 1), node("n0", {"a": value}, runs="m.b")),
        (None, node("n1", {"a": value}, runs="m.b")),
    )
    nodes = [node("n0", runs="m.make"), node("n1", {"a": items(value)}), choice]
    graph = graph_of(*entities, workflow("m.w", *nodes, gives={"o0": (TIME, value)}))
    chosen = graph.nodes["n2"].branch
    assert chosen is not None
    assert [b.times for b in graph.nodes["n1"].bindings] == [True]
    assert [b.times for b in graph.nodes["end-node"].bindings] == [True]
    assert [b.times for body in chosen.graph.nodes.values() for b in body.bindings] == [True, True]
