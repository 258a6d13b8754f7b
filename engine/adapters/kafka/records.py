"""Events, facts and dead letters as records of their topics, and back."""

from __future__ import annotations

import re
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
_NUMBER = re.compile(r"[0-9]{1,18}")
ORIGINAL = "original."
REPLAYED = "replayed"
"""Header of a record of the dead letters that is none, but says which one was replayed."""


def event_message(event: Event, options: KafkaOptions, raw: bytes = b"") -> Message:
    """To the partition of its execution. Raises Defect."""
    execution = event.execution
    partition = partition_of(execution, options.partitions)
    return Message(Topic.EVENTS, partition, key_of(execution), raw or codec.pack_event(event))


def appended(owner: bytes, order: int) -> tuple[str, bytes]:
    return APPENDED, _APPENDED.pack(owner, order)


def queued(found: Found, owner: bytes, options: KafkaOptions) -> Queued:
    """An event of the topic as it waits for its turn."""
    order, misplaced, headers = 0, -1, list[tuple[str, bytes]]()
    for name, value in found.headers:
        if name != APPENDED:
            headers.append((name, value or b""))
        elif value is not None and len(value) == _APPENDED.size:
            by, number = _APPENDED.unpack(value)
            order = number if by == owner else 0
    record = codec.unpack_record(found.offset, found.value or b"", tuple(headers))
    if record.event is not None:
        belongs = partition_of(record.event.execution, options.partitions)
        misplaced = belongs if belongs != found.partition else -1
    return Queued(record, order, found.offset, misplaced)


def forwarded(waiting: Queued) -> Message:
    """An event on its way to the partition that it belongs to, as it came."""
    event = waiting.record.event
    assert event is not None
    key, record = key_of(event.execution), waiting.record
    return Message(Topic.EVENTS, waiting.misplaced, key, record.raw, record.headers)


def fact_message(fact: Fact, partition: int) -> Message:
    return Message(Topic.HISTORY, partition, key_of(fact.execution), codec.pack_fact(fact))


def fact_in(found: Found) -> Fact:
    """Raises Unreadable."""
    return codec.unpack_fact(found.value or b"")


def letter_message(letter: DeadLetter, partition: int, offset: int) -> Message:
    """The original bytes; `offset` is where they stood in the topic of events, -1 = they were in memory only.

    The original headers have ORIGINAL before their names.
    """
    headers = [
        ("reason", letter.reason.encode("utf-8", "surrogatepass")),
        ("partition", str(partition).encode()),
        ("offset", str(offset).encode()),
    ]
    if letter.execution is not None:
        it = letter.execution
        parts = (part.encode("utf-8", "surrogatepass") for part in (it.project, it.domain, it.name))
        headers += zip(("project", "domain", "execution"), parts, strict=True)
    headers += [(f"{ORIGINAL}{name}", value) for name, value in letter.headers]
    key = key_of(letter.execution) if letter.execution else f"{partition}/{offset}".encode()
    return Message(Topic.DEAD_LETTERS, partition, key, letter.raw, tuple(headers))


def is_mark(found: Found) -> bool:
    """Whether it says that a letter was replayed."""
    return found.value is None and any(name == REPLAYED for name, _ in found.headers)


def letter_in(found: Found) -> DeadLetter:
    """Of a record of the dead letters, whoever has written it: what an engine's own would say may be missing."""
    headers = {name: _text(value or b"") for name, value in found.headers if not name.startswith(ORIGINAL)}
    execution = None
    if {"project", "domain", "execution"} <= headers.keys():
        execution = ExecutionId(headers["project"], headers["domain"], headers["execution"])
    original = tuple(
        (name.removeprefix(ORIGINAL), value or b"") for name, value in found.headers if name.startswith(ORIGINAL)
    )
    reason = headers.get("reason", "no engine has put this record here")
    return DeadLetter(number_in(found, "offset"), found.value or b"", reason, execution, original)


def number_in(found: Found, header: str) -> int:
    """A header that is a number; -1 = there is none."""
    text = _text(dict(found.headers).get(header) or b"")
    return int(text) if _NUMBER.fullmatch(text) else -1


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value.decode("utf-8", "backslashreplace")


def in_memory(event: Event) -> Record:
    """An event that waits in memory. Raises Defect for what can't be packed."""
    return Record(0, event, codec.pack_event(event))
