"""How Kafka is reached, what the topics are called, and how long things may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from engine.adapters.kafka.security import Security

MIB = 1024 * 1024


class Topic(StrEnum):
    EVENTS = "events"
    STATE = "state"
    HISTORY = "history"
    DEAD_LETTERS = "dead-letters"


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    bootstrap: str
    """host:port, several with commas between them."""
    prefix: str = "propwash"
    """Topics are called PREFIX.events, PREFIX.state, PREFIX.history and PREFIX.dead-letters."""
    group: str = "propwash"
    """Engines of one group share the partitions; it is part of the transactional ids."""
    takes_over: str | None = None
    """Another group, which has ended: what it has claimed is taken over."""
    store: str = ""
    """URI of the store that all engines of these topics share; empty = not told."""
    partitions: int = 24
    replication: int | None = None
    """Copies of every topic; None = 3, or as many as there are brokers."""
    min_insync: int | None = None
    """Copies that must have a record before it counts; None = 2 of 3 or more copies, else 1."""
    compression: Literal["none", "lz4", "zstd"] = "zstd"
    """The client presses lz4 at its highest level: seven times the work of zstd, and twice the bytes."""
    max_record_bytes: int = 8 * MIB
    history_seconds: float = 30 * 86400.0
    """How long facts and dead letters are kept."""
    events_seconds: float = 7 * 86400.0
    """How long events are kept, processed or not."""
    keep_finished_seconds: float = 3 * 86400.0
    """How long the states of finished executions are kept, in the topic and in memory."""
    transaction_seconds: float = 15.0
    """After which the broker gives up the transaction of an engine that is gone: others wait for it that long."""
    commit_seconds: float = 20.0
    """After which a commit without an answer is looked into."""
    request_seconds: float = 15.0
    session_seconds: float = 10.0
    """After which the partitions of an engine that is gone go to others."""
    watchdog_seconds: float = 120.0
    """How long a partition may stand still with something to do, while Kafka answers."""
    instance: str | None = None
    """Static membership: the name of this process in the group, so that a quick restart moves no partitions."""
    security: Security = field(default_factory=Security)

    def topic(self, which: Topic) -> str:
        return f"{self.prefix}.{which.value}"

    def transactional_id(self, partition: int) -> str:
        return f"{self.group}-{self.topic(Topic.EVENTS)}-{partition}"
