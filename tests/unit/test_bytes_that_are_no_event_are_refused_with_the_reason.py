from __future__ import annotations

import msgpack
import pytest

from engine.model.errors import BadInput, Defect
from engine.model.events import AbortRequested
from engine.model.ids import ExecutionId
from engine.model.state import Fact
from engine.ports.eventlog import Record
from engine.wire import codec
from engine.wire.codec import Unreadable

ID = {"project": "p", "domain": "d", "name": "e1"}
ABORT = {"v": 1, "type": "execution.abort_requested", "execution": ID, "cause": "c"}
TYPES = (
    "execution.requested, signal.given, "
    "execution.submitted, execution.abort_requested, signal.set, node.retry_requested, node.prepared, attempt.started, "
    "attempt.planned, attempt.succeeded, attempt.failed, attempt.stopped, execution.child_ended, "
    "signal.refused, timer.fired"
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an event can't be read: 0 bytes are no msgpack map (Unpack failed: incomplete input)"),
        (b"\xc1", "an event can't be read: 1 bytes are no msgpack map (FormatError)"),
        (b"\x80\x80", "an event can't be read: 2 bytes are no msgpack map (unpack(b) received extra data.)"),
        (b"{}", "an event can't be read: 2 bytes are no msgpack map (unpack(b) received extra data.)"),
        (msgpack.packb([1]), "an event can't be read: expected a msgpack map, got list"),
        (msgpack.packb({}), "an event can't be read: expected a whole number as its version `v`, got None"),
        (msgpack.packb({"v": "1"}), "an event can't be read: expected a whole number as its version `v`, got '1'"),
        (msgpack.packb({"v": True}), "an event can't be read: expected a whole number as its version `v`, got True"),
        (msgpack.packb({"v": 1}), f"an event can't be read: its type is None; expected one of {TYPES}"),
        (msgpack.packb({"v": 1, "type": [1]}), f"an event can't be read: its type is [1]; expected one of {TYPES}"),
        (
            msgpack.packb({**ABORT, "cause": 7}),
            "an event can't be read: Expected `str`, got `int` - at `$.cause`",
        ),
        (
            msgpack.packb({**ABORT, "execution": {"project": "p"}}),
            "an event can't be read: Object missing required field `domain` - at `$.execution`",
        ),
    ],
)
def test_the_message_says_what_was_wrong(data: bytes, message: str) -> None:
    with pytest.raises(Unreadable) as caught:
        codec.unpack_event(data)
    assert str(caught.value) == message
    assert isinstance(caught.value, BadInput)


def test_a_record_of_such_bytes_has_the_reason_in_place_of_the_event() -> None:
    problem = "an event can't be read: 0 bytes are no msgpack map (Unpack failed: incomplete input)"
    assert codec.unpack_record(7, b"") == Record(7, None, b"", problem)


def test_other_nouns_are_named_too() -> None:
    with pytest.raises(Unreadable, match=r"^an execution can't be read: "):
        codec.unpack_execution(b"")
    with pytest.raises(Unreadable, match=r"^a node can't be read: Object missing required field `path`$"):
        codec.unpack_node(msgpack.packb({"v": 1}))
    with pytest.raises(Unreadable, match=r"^a fact can't be read: "):
        codec.unpack_fact(msgpack.packb({"v": 1}))
    with pytest.raises(Unreadable, match=r"^a dead letter can't be read: "):
        codec.unpack_dead_letter(msgpack.packb({"v": 1}))


def test_a_value_that_msgpack_cannot_hold_is_a_defect() -> None:
    with pytest.raises(Defect, match=r"^Fact can't be packed \(Integer value out of range\): Fact\("):
        codec.pack_fact(Fact(ExecutionId("p", "d", "e1"), 2**64, 0.0, "QUEUED"))


def test_the_untouched_map_is_an_event() -> None:
    assert codec.unpack_event(msgpack.packb(ABORT)) == AbortRequested(ExecutionId("p", "d", "e1"), "c")
