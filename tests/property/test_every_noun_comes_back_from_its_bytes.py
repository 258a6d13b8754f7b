from __future__ import annotations

from typing import get_args

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.events import Event, Incoming
from engine.model.requests import Asked
from engine.model.state import Execution, Fact, Node
from engine.ports.eventlog import DeadLetter, Record
from engine.wire import codec
from engine.wire.codec import Unreadable
from tests.property.nouns import any_of

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(), st.text(max_size=5), st.binary(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.parametrize("noun", [*get_args(Event), *get_args(Asked)], ids=lambda noun: noun.__name__)
@given(data=st.data())
def test_events(noun: type[Incoming], data: st.DataObject) -> None:
    event = data.draw(any_of(noun))
    packed = codec.pack_event(event)
    assert codec.unpack_event(packed) == event
    assert type(codec.unpack_event(packed)) is noun
    assert codec.unpack_record(3, packed) == Record(3, event, packed)


@given(any_of(Execution))
def test_executions(execution: Execution) -> None:
    assert codec.unpack_execution(codec.pack_execution(execution)) == execution


@given(any_of(Node))
def test_nodes(node: Node) -> None:
    assert codec.unpack_node(codec.pack_node(node)) == node


@given(any_of(Fact))
def test_facts(fact: Fact) -> None:
    assert codec.unpack_fact(codec.pack_fact(fact)) == fact


@given(any_of(DeadLetter))
def test_dead_letters(letter: DeadLetter) -> None:
    assert codec.unpack_dead_letter(codec.pack_dead_letter(letter)) == letter


@given(st.binary(max_size=60))
def test_any_bytes_are_an_event_or_refused(data: bytes) -> None:
    record = codec.unpack_record(1, data)
    assert (record.event is None) == bool(record.problem)


@given(any_of(Event), st.data())
def test_a_damaged_field_is_refused_or_read_and_never_anything_else(event: Event, data: st.DataObject) -> None:
    fields = msgpack.unpackb(codec.pack_event(event))
    fields[data.draw(st.sampled_from(sorted(fields)))] = data.draw(values)
    try:
        again = codec.unpack_event(msgpack.packb(fields))
    except Unreadable:
        return
    assert codec.unpack_event(codec.pack_event(again)) == again or again != again
