"""Whoever wrote a record into the topic of dead letters, and whatever its headers say, it can be listed."""

from __future__ import annotations

from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.kafka.records import letter_in, number_in
from engine.model.ids import ExecutionId
from engine.ports.eventlog import DeadLetter

NAMES = st.sampled_from(["offset", "reason", "project", "domain", "execution", "partition", "original.a", "other"])


def found(headers: list[tuple[str, bytes | None]], value: bytes | None = b"raw") -> ConsumerRecord[bytes, bytes]:
    # As the client makes it of a record without a value or of a header without one.
    return ConsumerRecord("t", 0, 7, 0, 0, None, value, None, 0, 0, tuple(headers))  # type: ignore[arg-type]


def test_an_engines_own_says_all_of_it() -> None:
    headers: list[tuple[str, bytes | None]] = [
        ("offset", b"5"),
        ("partition", b"2"),
        ("reason", "odd \udc80".encode("utf-8", "surrogatepass")),
    ]
    headers += [("project", b"p"), ("domain", b"d"), ("execution", b"e"), ("original.content-type", b"x")]
    record = found(headers)
    told = DeadLetter(5, b"raw", "odd \udc80", ExecutionId("p", "d", "e"), (("content-type", b"x"),))
    assert (letter_in(record), number_in(record, "partition")) == (told, 2)


def test_a_strangers_says_what_it_can() -> None:
    record = found([("execution", b"e"), ("offset", b"-3"), ("reason", b"\xff")], None)
    assert letter_in(record) == DeadLetter(-1, b"", "\\xff", None, ())
    assert letter_in(found([])).reason == "no engine has put this record here"


@given(st.lists(st.tuples(NAMES, st.none() | st.binary())), st.none() | st.binary())
def test_none_is_refused(headers: list[tuple[str, bytes | None]], value: bytes | None) -> None:
    assert letter_in(found(headers, value)).raw == (value or b"")
    number_in(found(headers, value), "partition")
