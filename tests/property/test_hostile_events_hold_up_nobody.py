"""User case S08: whatever strangers publish is dead-lettered or answered with a reason; what comes after it runs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ports.eventlog import CONTENT_TYPE, Headers
from engine.wire.codec import unpack_record
from engine.wire.publicform import JSON
from tests.flow.asking import asked, named, publish, request

Published = tuple[bytes, Headers]
PATIENCE_SECONDS = 20.0
AS_JSON: Headers = ((CONTENT_TYPE, JSON.encode()),)
texts = st.one_of(st.text(max_size=8), st.sampled_from(["p", "d", "e1", "m.w", "m.w:v1", "../..", "\ud800", "\0"]))
numbers = st.one_of(st.integers(-9, 9), st.integers(-(2**63), 2**64 - 1), st.floats())
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts, st.binary(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
TYPES = [
    *("execution.requested", "execution.requested", "signal.given", "execution.submitted", "execution.abort_requested"),
    *("signal.set", "node.retry_requested", "attempt.succeeded", "execution.child_ended", "timer.fired", "nonsense"),
]
PLACES = st.fixed_dictionaries({"project": texts, "domain": texts, "name": texts})
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "execution": st.one_of(PLACES, values),
    "entity": st.one_of(texts, values),
    "package": st.one_of(texts, values),
    "inputs": st.one_of(st.fixed_dictionaries({"n": values}), values),
    "inputs_uri": st.one_of(texts, values),
    "overrides": st.one_of(st.fixed_dictionaries({"labels": values, "max_parallelism": values}), values),
    "signal_id": st.one_of(texts, values),
    "value": values,
    "approve": values,
    "key": st.one_of(st.fixed_dictionaries({"execution": PLACES, "path": texts}), values),
    "request": st.one_of(texts, values),
    "parent": values,
    "odd": values,
}


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """Near to an event, with anything wrong."""
    found: dict[str, Any] = request() if draw(st.booleans()) else {}
    found |= {"type": draw(st.sampled_from(TYPES)), "v": draw(st.sampled_from([1, 1, 1, 0, 2, True, "1", None]))}
    return found | {name: draw(FIELDS[name]) for name in draw(st.sets(st.sampled_from(sorted(FIELDS))))}


def packed(value: object) -> bytes:
    return bytes(msgpack.packb(value, unicode_errors="surrogatepass"))


def as_json(value: object) -> bytes:
    return json.dumps(value, default=repr, skipkeys=True).encode()


headers = st.one_of(
    st.just(()),
    st.just(AS_JSON),
    st.tuples(st.tuples(st.sampled_from([CONTENT_TYPE, "Content-Type", "x"]), st.binary(max_size=20))),
)
anything = st.one_of(
    st.tuples(st.binary(max_size=40), headers),
    st.tuples(st.one_of(values, events()).map(packed), headers),
    st.tuples(st.one_of(values, events()).map(as_json), st.just(AS_JSON)),
)


async def good_after(published: list[Published]) -> None:
    """What strangers published, then an event that is as it should be."""
    async with asyncio.timeout(PATIENCE_SECONDS), asked() as (world, engine):
        for data, given_headers in published:
            world.log.publish(data, given_headers)
        publish(world, request("good"))
        assert (await engine.wait(named("good"))).phase.value == "SUCCEEDED"
        unreadable = [data for data, kind in published if unpack_record(1, data, kind).event is None]
        letters = await world.log.dead_letters()
        assert [letter.raw for letter in letters if letter.raw in unreadable] == unreadable
        assert all(letter.reason for letter in letters)
        assert all(found.error is not None for found in world.log.answers if found.phase == "REJECTED")


@settings(max_examples=120, deadline=None)
@given(st.lists(anything, max_size=8))
def test_anything_at_all(published: list[Published]) -> None:
    asyncio.run(good_after(published))


def _deep(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels):
        value = {"n": [value]}
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize(
    "published",
    [
        (b"[" * 100_000, AS_JSON),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, AS_JSON),
        (b"\x91" * 100_000, ()),
        (b"\x81\xa1a" * 400 + b"\x01", ()),
        (as_json(request(inputs=_deep(45))), AS_JSON),
        (as_json(request(inputs=_deep(60))), AS_JSON),
        (packed(request(inputs=_deep(200))), ()),
        (packed(request(inputs={"n": msgpack.Timestamp(1, 1)})), ()),
        (packed(request(inputs={"n": msgpack.ExtType(5, b"x")})), ()),
        (b'{"v":1,"v":1,"type":"execution.requested","type":"signal.given"}', AS_JSON),
        (b'{"v":1,"type":"execution.requested","inputs":{"n":1e999}}', AS_JSON),
        (b'{"v":1,"type":"execution.requested","entity":"\\ud800"}', AS_JSON),
        (as_json(request(inputs={"n": 10**400})), AS_JSON),
        (packed({**request(), "v": 2}), ()),
        (packed({**request(), "v": 0}), ()),
        (as_json(request()), ((CONTENT_TYPE, b"text/plain"),)),
        (as_json(request()), ()),
    ],
)
def test_known_tricks(published: Published) -> None:
    asyncio.run(good_after([published, published]))
