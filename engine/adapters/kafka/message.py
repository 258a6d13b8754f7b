"""A record that is to be written."""

from __future__ import annotations

from msgspec import Struct

from engine.adapters.kafka.options import Topic
from engine.ports.eventlog import Headers


class Message(Struct, frozen=True):
    topic: Topic
    partition: int
    key: bytes
    value: bytes | None
    """None deletes what the key stands for, in a compacted topic."""
    headers: Headers = ()

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.key) + len(self.value or b"") + sum(len(name) + len(value) for name, value in self.headers)
