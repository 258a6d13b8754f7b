"""Events, facts and dead letters as records of their topics, and back."""

from __future__ import annotations

import struct

from engine.adapters.kafka.inbox import Queued
from engine.adapters.kafka.keys import key_of, partition_of
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.reading import Found
from engine.model.events import Event
from engine.model.ids import ExecutionId
from engine.model.state import Fact
from engine.ports.eventlog import DeadLetter, Record
from engine.wire import codec

APPENDED = "appended"
"""Header of an event that an engine has appended to a partition of its own: by whom, and which number it was."""
_APPENDED = struct.Struct(">8sQ")


def event_message(event: Event, options: KafkaOptions, raw: bytes = b"") -> Message:
    """To the partition of its execution. Raises Defect."""
    execution = event.execution
    partition = partition_of(execution, options.partitions)
    return Message(Topic.EVENTS, partition, key_of(execution), raw or codec.pack_event(event))


def appended(owner: bytes, order: int) -> tuple[str, bytes]:
    return APPENDED, _APPENDED.pack(owner, order)


def queued(found: Found, owner: bytes, options: KafkaOptions) -> Queued:
    """An event of the topic as it waits for its turn."""
    raw = found.value or b""
    record = codec.unpack_record(found.offset, raw)
    order, misplaced = 0, -1
    for name, value in found.headers:
        if name == APPENDED and len(value) == _APPENDED.size:
            by, number = _APPENDED.unpack(value)
            order = number if by == owner else 0
    if record.event is not None:
        belongs = partition_of(record.event.execution, options.partitions)
        misplaced = belongs if belongs != found.partition else -1
    return Queued(record, order, found.offset, misplaced)


def forwarded(waiting: Queued) -> Message:
    """An event on its way to the partition that it belongs to, as it came."""
    event = waiting.record.event
    assert event is not None
    return Message(Topic.EVENTS, waiting.misplaced, key_of(event.execution), waiting.record.raw)


def fact_message(fact: Fact, partition: int) -> Message:
    return Message(Topic.HISTORY, partition, key_of(fact.execution), codec.pack_fact(fact))


def fact_in(found: Found) -> Fact:
    """Raises Unreadable."""
    return codec.unpack_fact(found.value or b"")


def letter_message(letter: DeadLetter, partition: int, offset: int) -> Message:
    """The original bytes; `offset` is where they stood in the topic of events, -1 = they were in memory only."""
    headers = [
        ("reason", letter.reason.encode("utf-8", "surrogatepass")),
        ("partition", str(partition).encode()),
        ("offset", str(offset).encode()),
    ]
    if letter.execution is not None:
        it = letter.execution
        parts = (part.encode("utf-8", "surrogatepass") for part in (it.project, it.domain, it.name))
        headers += zip(("project", "domain", "execution"), parts, strict=True)
    key = key_of(letter.execution) if letter.execution else f"{partition}/{offset}".encode()
    return Message(Topic.DEAD_LETTERS, partition, key, letter.raw, headers)


def letter_in(found: Found) -> DeadLetter:
    headers = {name: value.decode("utf-8", "surrogatepass") for name, value in found.headers}
    execution = None
    if "execution" in headers:
        execution = ExecutionId(headers["project"], headers["domain"], headers["execution"])
    return DeadLetter(int(headers["offset"]), found.value or b"", headers["reason"], execution)


def in_memory(event: Event) -> Record:
    """An event that waits in memory. Raises Defect for what can't be packed."""
    return Record(0, event, codec.pack_event(event))
