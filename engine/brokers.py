"""Kafka as the settings say: how it is reached, what the topics are called, who this process is."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.errors import BadInput

if TYPE_CHECKING:
    from config.kafka import Kafka
    from engine.adapters.kafka.clients import Clients
    from engine.adapters.kafka.options import KafkaOptions
    from engine.adapters.kafka.security import Security

PASSWORD = "PROPWASH_KAFKA_PASSWORD"
"""Environment variable with the password, where no file has it."""
_ODD = re.compile(r"[^A-Za-z0-9._-]")


def clients_of(
    kafka: Kafka, home: Path | None = None, environ: Mapping[str, str] = os.environ, store: str = ""
) -> Clients:
    """The clients of a process. Blocking (reads certificates and the password). Raises BadInput.

    kafka: with a bootstrap. home: of a member of the group, which gets its name from it. store: URI of its store.
    """
    from engine.adapters.kafka.clients import Clients

    options = options_of(kafka, home, environ, store)
    return Clients(options, options.security.arguments())


def options_of(
    kafka: Kafka, home: Path | None = None, environ: Mapping[str, str] = os.environ, store: str = ""
) -> KafkaOptions:
    """Blocking (reads the password). Raises BadInput."""
    from engine.adapters.kafka.options import KafkaOptions

    assert kafka.bootstrap is not None
    return KafkaOptions(
        bootstrap=kafka.bootstrap,
        prefix=kafka.prefix,
        group=kafka.group,
        takes_over=kafka.takes_over,
        store=store,
        partitions=kafka.partitions,
        replication=kafka.replication,
        min_insync=kafka.min_insync,
        compression=kafka.compression,
        max_record_bytes=kafka.max_record,
        history_seconds=kafka.history_seconds,
        events_seconds=kafka.events_seconds,
        keep_finished_seconds=kafka.keep_finished_seconds,
        transaction_seconds=kafka.transaction_seconds,
        commit_seconds=kafka.commit_seconds,
        request_seconds=kafka.request_seconds,
        session_seconds=kafka.session_seconds,
        watchdog_seconds=kafka.watchdog_seconds,
        instance=kafka.instance or (instance_name(home) if home else None),
        security=_security(kafka, environ),
    )


def instance_name(home: Path) -> str:
    """The name of a member of the group that is the same after a restart: one process at a time works on a home."""
    place = hashlib.sha256(os.path.realpath(home).encode()).hexdigest()[:8]
    return f"{_ODD.sub('-', socket.gethostname())[:180]}-{place}"


def _security(kafka: Kafka, environ: Mapping[str, str]) -> Security:
    from engine.adapters.kafka.security import Security

    return Security(
        tls=kafka.tls,
        ca_file=_path(kafka.ca_file),
        certificate_file=_path(kafka.certificate_file),
        key_file=_path(kafka.key_file),
        mechanism=kafka.mechanism,
        username=kafka.username or "",
        password=_password(kafka, environ) if kafka.mechanism not in (None, "OAUTHBEARER") else "",
        token_file=_path(kafka.token_file),
    )


def _password(kafka: Kafka, environ: Mapping[str, str]) -> str:
    if kafka.username is None:
        raise BadInput(f"kafka.username: {kafka.mechanism} needs a user's name; nothing was started")
    if kafka.password_file is None:
        if PASSWORD not in environ:
            raise BadInput(
                f"kafka.password_file: {kafka.mechanism} needs a password, in a file or in the environment variable "
                f"{PASSWORD}; nothing was started"
            )
        return environ[PASSWORD]
    try:
        return Path(kafka.password_file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"kafka.password_file: {kafka.password_file} can't be read: {error}; nothing was started"
        ) from error


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
