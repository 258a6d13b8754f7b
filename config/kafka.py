"""Settings of the log on Apache Kafka."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.group import Group
from config.values import Brokers, Count, Seconds, Size, Text, TopicName

MIB = 2**20


class Kafka(Group):
    """The log on Apache Kafka, for `propwash serve`: engines that share one group share the work. The password is no
    setting: it stands in a file (`kafka.password_file`) or in the environment variable `PROPWASH_KAFKA_PASSWORD`."""

    bootstrap: Brokers | None = None
    """Brokers to begin with: HOST:PORT, several with commas between them. null = the embedded log of the home."""
    prefix: TopicName = "propwash"
    """Topics are called PREFIX.events, PREFIX.state, PREFIX.history and PREFIX.dead-letters. They are made where they
    are missing, and checked where they are there."""
    group: TopicName = "propwash"
    """Engines of one group share the partitions. Two groups must not work on the same topics: a process of another
    group than that which has claimed them does not start."""
    takes_over: TopicName | None = None
    """Name of a group whose topics this one takes over, to give a group another name. Stop every process of the old
    group before; this setting can go once the new one is ready."""
    partitions: Count = 24
    """Partitions of each topic, and so the most that can work at once. It can't be changed later: an execution's name
    says which one it belongs to."""
    replication: Count | None = None
    """Copies of each topic that is made. null = 3, or as many as there are brokers."""
    min_insync: Count | None = None
    """Copies that must have a record before it counts. null = 2 where there are 3 or more copies, else 1."""
    compression: Literal["none", "lz4", "zstd"] = "zstd"
    """How records are compressed."""
    max_record: Annotated[Size, Field(ge=MIB, le=1024 * MIB)] = 8 * MIB
    """Bytes of one record at most. The brokers and the topics must allow it (`max.message.bytes`)."""
    events_seconds: Annotated[Seconds, Field(gt=0)] = 7 * 86400.0
    """Seconds that events are kept in topics that are made here, processed or not. An engine that is down for longer
    loses some, and says so when it starts."""
    history_seconds: Annotated[Seconds, Field(gt=0)] = 30 * 86400.0
    """Seconds that facts and dead letters are kept in topics that are made here."""
    keep_finished_seconds: Annotated[Seconds, Field(gt=0)] = 3 * 86400.0
    """Seconds that the states of finished executions are kept. A name that is used again after that is a new
    execution, and nothing can be recovered from the old one."""
    instance: TopicName | None = None
    """Name of this process in the group (static membership): a process that is back within `session_seconds` gets the
    partitions that it had. Two processes must not have the same. null = made of the name of the host or pod, and of the
    home."""
    session_seconds: Annotated[Seconds, Field(ge=1)] = 10.0
    """Seconds of silence after which the partitions of an engine go to the others. One that stops in order hands over
    at once."""
    transaction_seconds: Annotated[Seconds, Field(ge=1)] = 15.0
    """Seconds after which the brokers give up what an engine that is gone was writing, where no other engine takes its
    partition over before."""
    commit_seconds: Annotated[Seconds, Field(gt=0)] = 20.0
    """Seconds without an answer after which a commit is looked into."""
    request_seconds: Annotated[Seconds, Field(gt=0)] = 15.0
    """Seconds without an answer after which a request to a broker has failed; it is tried again."""
    watchdog_seconds: Annotated[Seconds, Field(gt=0)] = 120.0
    """Seconds that a partition may stand still with something to do while Kafka answers. After that the process ends,
    so that whoever supervises it starts it anew. A partition whose writes are refused (too few copies in sync) tries
    again each `commit_seconds`, and does not stand still: this should be more than twice as long."""
    tls: bool = False
    """Encrypt the connections, and check the brokers' certificates."""
    ca_file: Text | None = None
    """File with the certificates that are trusted (PEM). null = those of the system."""
    certificate_file: Text | None = None
    """File with the certificate of this client and its chain (PEM), where the brokers ask for one."""
    key_file: Text | None = None
    """File with the key of that certificate (PEM)."""
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    """How to log in (SASL). null = not at all."""
    username: Text | None = None
    """Who logs in, with PLAIN and SCRAM."""
    password_file: Text | None = None
    """File with the password, for PLAIN and SCRAM; a line break at its end does not count. null = the environment
    variable `PROPWASH_KAFKA_PASSWORD`."""
    token_file: Text | None = None
    """File with the token, for OAUTHBEARER; somebody else keeps it fresh. It is read again for every connection."""
