"""The states of one partition, as bytes, in memory: read from the state topic, written to it by commits."""

from __future__ import annotations

import logging
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from engine.adapters.kafka.keys import key_of, node_key, split_key
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.reading import Found
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Snapshot
from engine.ports.eventlog import Changes
from engine.wire import codec

HEADER = "execution"
_HEADER = struct.Struct(">Qd?")
"""Of an execution's record: its number in the order of submissions, when it was written last, whether it has ended."""
FORGET_AT_ONCE = 100
"""Finished executions that one commit forgets at the most."""


ENDED_BEFORE = "a record of it as unfinished stands behind the one of its end"
T = TypeVar("T")

log = logging.getLogger(__name__)


class Kept(Struct):
    number: int
    raw: bytes
    written_at: float
    terminal: bool
    nodes: dict[str, bytes]
    """By path; of those that have ended, only the paths, to delete them one day."""
    problem: str = ""
    """Why it is set aside, as if it was not there: what can't be read in the topic is nobody's end."""


class States:
    def __init__(self, options: KafkaOptions, partition: int) -> None:
        self._partition, self._keep_seconds = partition, options.keep_finished_seconds
        self._topic = options.topic(Topic.STATE)
        self._kept: dict[bytes, Kept] = {}
        self._early: dict[bytes, dict[str, bytes]] = {}
        """While the topic is read: nodes whose execution comes behind them."""
        self._numbers = 0
        self._finished: deque[tuple[float, bytes]] = deque()
        """(when, which), the oldest first."""

    def feed(self, record: Found) -> None:
        """A record of the topic, from its begin on."""
        try:
            execution, path = split_key(record.key or b"")
        except codec.Unreadable as error:
            self._tell("a record is left out", record.key, f"offset {record.offset}: {error}")
            return
        if path is None:
            self._feed_execution(execution, record)
            return
        kept = self._kept.get(execution)
        nodes = kept.nodes if kept else self._early.setdefault(execution, {})
        if record.value is None:
            nodes.pop(path, None)
        else:
            nodes[path] = b"" if kept and kept.terminal else record.value

    def _feed_execution(self, execution: bytes, record: Found) -> None:
        known = self._kept.pop(execution, None)
        early = self._early.pop(execution, {})
        if record.value is None:
            return
        nodes, problem = known.nodes if known else early, ""
        try:
            number, written_at, terminal = _HEADER.unpack(dict(record.headers).get(HEADER) or b"")
        except struct.error:
            number, written_at, terminal = known.number if known else 0, 0.0, False
            problem = f"its record at offset {record.offset} has no header {HEADER!r} of an engine"
        if known is not None and not terminal and (known.terminal or known.problem == ENDED_BEFORE):
            problem = ENDED_BEFORE
        if terminal:
            nodes = dict.fromkeys(nodes, b"")
        self._kept[execution] = Kept(number, record.value, written_at, terminal, nodes, problem)

    def ready(self) -> None:
        """All records have been fed."""
        for execution, nodes in self._early.items():
            if nodes:
                self._tell("nodes are left out", execution, f"{len(nodes)} nodes, and no record of their execution")
        self._early.clear()
        for execution, kept in self._kept.items():
            if kept.problem:
                self._tell("an execution is set aside", execution, kept.problem)
        self._kept = dict(sorted(self._kept.items(), key=lambda item: item[1].number))
        self._numbers = max((kept.number for kept in self._kept.values()), default=0)
        ended = [(kept.written_at, execution) for execution, kept in self._kept.items() if kept.terminal]
        self._finished = deque(sorted(ended))

    def pack(self, changes: Changes, now: float) -> Packed:
        """What a commit writes of states; raises Defect for what can't be packed. Changes nothing here yet."""
        packed = Packed()
        written = {node.path for _, node in changes.nodes}
        for owner, node in changes.nodes:
            key, raw = key_of(owner), codec.pack_node(node)
            packed.nodes.append((key, node.path, raw))
            packed.messages.append(Message(Topic.STATE, self._partition, node_key(key, node.path), raw))
        for execution in changes.executions:
            key = key_of(execution.id)
            known = self._kept.get(key)
            if known is not None and known.problem:
                # Another one of its name: what was set aside is not to be taken for a part of it.
                packed.messages += [self._message(node_key(key, path), None) for path in known.nodes.keys() - written]
            number = known.number if known else self._numbers + 1 + len(packed.executions)
            raw = codec.pack_execution(execution)
            packed.executions.append((key, Kept(number, raw, now, execution.terminal, {})))
            header = (HEADER, _HEADER.pack(number, now, execution.terminal))
            packed.messages.append(self._message(key, raw, header))
        packed.forgotten = self._outdated(now)
        for key in packed.forgotten:
            paths = self._kept[key].nodes
            packed.messages += [self._message(one, None) for one in (*(node_key(key, path) for path in paths), key)]
        return packed

    def apply(self, packed: Packed) -> None:
        """The commit has taken place."""
        for key, found in packed.executions:
            known = self._kept.get(key)
            if known is not None and known.problem:
                known = None
                self._finished = deque(one for one in self._finished if one[1] != key)
            found.nodes = known.nodes if known else self._early.pop(key, {})
            self._numbers = max(self._numbers, found.number)
            self._kept[key] = found
        for key, path, raw in packed.nodes:
            kept = self._kept.get(key)
            (kept.nodes if kept else self._early.setdefault(key, {}))[path] = raw
        for key, found in packed.executions:
            if found.terminal:
                found.nodes = dict.fromkeys(found.nodes, b"")
                self._finished.append((found.written_at, key))
        for key in packed.forgotten:
            self._kept.pop(key, None)
            self._finished.popleft()

    def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        found = {each: self._read(key_of(each), execution_in) for each in ids}
        return {each: execution for each, execution in found.items() if execution is not None}

    def executions(self) -> list[Execution]:
        found = [self._read(key, execution_in) for key in self._kept]
        return [execution for execution in found if execution is not None]

    def snapshots(self) -> Iterator[Snapshot]:
        """Of those that have not ended, in the order of their submissions."""
        for key, kept in list(self._kept.items()):
            if not kept.terminal and (found := self._read(key, snapshot_of)) is not None:
                yield found

    def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        """None for what is not here, or has ended: its nodes are in the topic only."""
        kept = self._kept.get(key_of(execution))
        return self._read(key_of(execution), snapshot_of) if kept and not kept.terminal else None

    def _read(self, key: bytes, reader: Callable[[bytes, Kept], T]) -> T | None:
        """None for what is not here, or is set aside now."""
        kept = self._kept.get(key)
        if kept is None or kept.problem:
            return None
        try:
            return reader(key, kept)
        except codec.Unreadable as error:
            kept.problem = str(error)
            self._tell("an execution is set aside", key, kept.problem)
            return None

    def _tell(self, what: str, key: bytes | None, cause: str) -> None:
        log.error(
            f"{what}: it can't be read, so nothing of it is restored; everything else goes on. Its records stay: if a "
            "newer version has written them, start that one; else delete them, and run it again under another name",
            extra={
                "topic": self._topic,
                "partition": self._partition,
                "execution": (key or b"").decode(errors="backslashreplace"),
                "cause": cause,
            },
        )

    def _outdated(self, now: float) -> list[bytes]:
        found: list[bytes] = []
        for written_at, key in self._finished:
            if written_at > now - self._keep_seconds or len(found) == FORGET_AT_ONCE:
                break
            found.append(key)
        return found

    def _message(self, key: bytes, value: bytes | None, *headers: tuple[str, bytes]) -> Message:
        return Message(Topic.STATE, self._partition, key, value, headers)


class Packed(Struct):
    """The states of one commit."""

    messages: list[Message] = []
    executions: list[tuple[bytes, Kept]] = []
    nodes: list[tuple[bytes, str, bytes]] = []
    forgotten: list[bytes] = []


def execution_in(key: bytes, kept: Kept) -> Execution:
    """Raises Unreadable, as `snapshot_of`."""
    found = codec.unpack_execution(kept.raw)
    if key_of(found.id) != key:
        raise codec.Unreadable(f"an execution can't be read: its record is of {found.id}")
    return found


def snapshot_of(key: bytes, kept: Kept) -> Snapshot:
    nodes = sorted(kept.nodes.items())
    return Snapshot(execution_in(key, kept), tuple(codec.unpack_node(raw) for _, raw in nodes))
