"""Events that go through Kafka and events in memory come in one order, whenever Kafka delivers."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.kafka.inbox import BATCH_BYTES, MEMORY, Inbox, Queued
from engine.ports.eventlog import BATCH_RECORDS, Record


def memory(name: str) -> Record:
    return Record(0, None, name.encode())


def topic(offset: int, name: str, order: int = 0, misplaced: int = -1) -> Queued:
    return Queued(Record(0, None, name.encode()), order, offset, misplaced)


def names(records: Sequence[Record]) -> list[str]:
    return [record.raw.decode() for record in records]


def drain(inbox: Inbox) -> list[str]:
    """Read and commit all that has its turn."""
    found: list[str] = []
    while records := inbox.head():
        found += names(records)
        inbox.advance(records[-1].offset)
    return found


def test_an_event_in_memory_waits_for_what_was_appended_before_it() -> None:
    inbox = Inbox(0, 0)
    first = inbox.expect()
    inbox.put([memory("m")])
    later = inbox.expect()
    inbox.feed([topic(0, "foreign")], 1)
    assert drain(inbox) == ["foreign"]
    inbox.feed([topic(1, "first", first)], 2)
    assert drain(inbox) == ["first", "m"]
    inbox.feed([topic(2, "later", later)], 3)
    assert drain(inbox) == ["later"]


def test_an_event_in_memory_goes_before_what_was_appended_after_it() -> None:
    inbox = Inbox(0, 0)
    inbox.put([memory("m")])
    inbox.feed([topic(0, "later", inbox.expect())], 1)
    assert drain(inbox) == ["m", "later"]


def test_what_is_refused_holds_up_nobody() -> None:
    inbox = Inbox(0, 0)
    order = inbox.expect()
    inbox.put([memory("m")])
    assert drain(inbox) == []
    inbox.forget([order])
    assert drain(inbox) == ["m"]


def test_what_was_there_at_the_start_comes_first() -> None:
    inbox = Inbox(5, 8)
    assert inbox.behind
    inbox.put([memory("m")])
    inbox.feed([topic(5, "a"), topic(6, "b")], 7)
    assert drain(inbox) == ["a", "b"]
    assert inbox.behind
    inbox.feed([], 8)
    assert not inbox.behind
    assert drain(inbox) == ["m"]
    assert (inbox.cursor, inbox.fetched) == (7, 8)


def test_what_trouble_has_written_twice_is_read_twice() -> None:
    inbox = Inbox(0, 0)
    order = inbox.expect()
    inbox.put([memory("m")])
    inbox.feed([topic(0, "x", order)], 1)
    assert drain(inbox) == ["x", "m"]
    inbox.feed([topic(1, "x", order)], 2)
    assert drain(inbox) == ["x"]


def test_positions_rise_and_tell_the_cursor() -> None:
    inbox = Inbox(3, 3)
    inbox.put([memory("m1"), memory("m2")])
    inbox.feed([topic(3, "a"), topic(7, "b")], 8)
    inbox.put([memory("m3")])
    records = inbox.head()
    assert names(records) == ["m1", "m2", "a", "b", "m3"]
    positions = [record.offset for record in records]
    assert positions == [3 * MEMORY + 1, 3 * MEMORY + 2, 4 * MEMORY, 8 * MEMORY, 8 * MEMORY + 1]
    assert [inbox.cursor_at(position) for position in positions] == [3, 3, 4, 8, 8]


def test_a_part_of_a_batch_may_be_committed() -> None:
    inbox = Inbox(0, 0)
    inbox.feed([topic(0, "a"), topic(1, "b"), topic(2, "c")], 3)
    first, *_ = inbox.head()
    inbox.advance(first.offset)
    assert names(inbox.head()) == ["b", "c"]
    assert inbox.cursor == 1


def test_a_batch_is_bounded_in_number_and_in_bytes() -> None:
    inbox = Inbox(0, 0)
    inbox.put([memory("m")] * (BATCH_RECORDS + 7))
    assert len(inbox.head()) == BATCH_RECORDS
    inbox = Inbox(0, 0)
    inbox.put([Record(0, None, bytes(BATCH_BYTES // 2 + 1))] * 5)
    assert len(inbox.head()) == 2


def test_what_belongs_elsewhere_is_taken_out_between_batches() -> None:
    inbox = Inbox(0, 0)
    inbox.feed([topic(0, "a"), topic(1, "x", misplaced=2), topic(2, "y", misplaced=3), topic(3, "b")], 4)
    assert names(inbox.head()) == ["a"]
    assert inbox.misplaced() == []
    assert drain(inbox) == ["a"]
    assert [queued.offset for queued in inbox.misplaced()] == [1, 2]
    inbox.advance(3 * MEMORY)
    assert (drain(inbox), inbox.cursor) == (["b"], 4)


@given(st.lists(st.sampled_from(["memory", "ours", "foreign"]), max_size=30), st.randoms(use_true_random=False))
def test_whenever_kafka_delivers_our_own_order_holds(kinds: list[str], chance: object) -> None:
    """Ours and those in memory come out as they were appended; the topic as it is; nothing is lost."""
    random = chance.random  # type: ignore[attr-defined]
    inbox, ours, log, found = Inbox(0, 0), list[str](), list[Queued](), list[str]()
    delivered = 0
    for number, kind in enumerate(kinds):
        name = f"{kind}-{number}"
        if kind == "memory":
            ours.append(name)
            inbox.put([memory(name)])
        else:
            ours += [name] if kind == "ours" else []
            log.append(topic(len(log), name, inbox.expect() if kind == "ours" else 0))
        if random() < 0.4:
            upto = delivered + int(random() * (len(log) - delivered + 1))
            inbox.feed(log[delivered:upto], upto)
            delivered = upto
        if random() < 0.4:
            found += drain(inbox)
    inbox.feed(log[delivered:], len(log))
    found += drain(inbox)
    assert sorted(found) == sorted([*ours, *(each.record.raw.decode() for each in log if each.record.raw[:1] == b"f")])
    assert [name for name in found if not name.startswith("foreign")] == ours
    assert [name for name in found if not name.startswith("memory")] == [each.record.raw.decode() for each in log]
    assert inbox.cursor == len(log)
    assert inbox.is_empty
