from __future__ import annotations

import msgpack

from engine.model.events import AbortRequested, AttemptSucceeded
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Elements, Node
from engine.wire import codec

EXECUTION = ExecutionId("p", "d", "e1")
ID = {"project": "p", "domain": "d", "name": "e1"}


def test_an_event_carries_its_type_and_version_and_leaves_defaults_out() -> None:
    event = AttemptSucceeded(AttemptKey(EXECUTION, "n1", 2, 3, 1), "file:///o.pb")
    assert msgpack.unpackb(codec.pack_event(event)) == {
        "type": "attempt.succeeded",
        "v": 1,
        "key": {"execution": ID, "path": "n1", "attempt": 2, "index": 3, "node_attempt": 1},
        "outputs_uri": "file:///o.pb",
    }


def test_a_state_carries_its_version_and_its_bytes_raw() -> None:
    node = Node("n1", NodeKind.ARRAY, NodePhase.RUNNING, elements=Elements(2, (b"\x05\x00\xff\x01",), live=1))
    assert msgpack.unpackb(codec.pack_node(node)) == {
        "v": 1,
        "path": "n1",
        "kind": "array",
        "phase": 2,
        "elements": {"size": 2, "chunks": [b"\x05\x00\xff\x01"], "live": 1},
    }


def test_a_key_that_this_version_does_not_know_is_ignored() -> None:
    data = msgpack.packb({"v": 1, "type": "execution.abort_requested", "execution": ID, "cause": "c", "colour": "red"})
    assert codec.unpack_event(data) == AbortRequested(EXECUTION, "c")


def test_text_that_is_no_valid_unicode_comes_back_as_it_was() -> None:
    event = AbortRequested(EXECUTION, "caf\udce9")
    assert codec.unpack_event(codec.pack_event(event)) == event
