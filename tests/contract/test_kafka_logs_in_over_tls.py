"""TLS with a certificate that must be trusted, and every login; no secret in any message."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from engine.adapters.kafka import topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.group import Group
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.security import Mechanism, Security
from engine.model.errors import BadInput, LogFailed
from engine.ports.eventlog import Changes
from tests.backing import kafka_secured
from tests.backing.kafka_secured import PASSWORD, USER, Secured
from tests.contract.kafka_world import fresh_options
from tests.contract.log_nouns import fact, named, submitted, take

pytestmark = pytest.mark.service("kafka")


@pytest.fixture
async def secured() -> AsyncIterator[Secured]:
    if reason := await anyio.to_thread.run_sync(kafka_secured.missing):
        pytest.skip(f"service kafka: {reason}")
    found = await anyio.to_thread.run_sync(kafka_secured.start)
    yield found
    await anyio.to_thread.run_sync(found.server.stop)


def token() -> str:
    """One that the broker of the tests believes without a signature."""

    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': 'engine', 'iat': now, 'exp': now + 600})}."


async def works(secured: Secured, security: Security) -> None:
    options = replace(fresh_options(), bootstrap=secured.address, security=security)
    clients = Clients(options, await anyio.to_thread.run_sync(security.arguments))
    await topics.prepare(clients)
    async with Appender.open(clients) as appender, Group.join(clients), KafkaLog.open(clients, 0, appender) as log:
        await log.append([submitted("a")], durable=True)
        assert await take(log, Changes(facts=[fact("a", 1)])) == [submitted("a")]
        assert await log.history(named("a")) == [fact("a", 1)]


async def refused(secured: Secured, security: Security) -> str:
    options = replace(fresh_options(), bootstrap=secured.address, security=security)
    clients = Clients(options, await anyio.to_thread.run_sync(security.arguments))
    with anyio.fail_after(60), pytest.raises(LogFailed) as caught:
        await topics.prepare(clients)
    assert PASSWORD not in f"{security!r} {options!r} {caught.value}"
    return str(caught.value)


async def test_every_login_lets_the_engine_in(secured: Secured, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{token()}\n")
    ways: dict[Mechanism, Security] = {
        "PLAIN": Security(username=USER, password=PASSWORD),
        "SCRAM-SHA-512": Security(username=USER, password=PASSWORD),
        "OAUTHBEARER": Security(token_file=file),
    }
    for mechanism, security in ways.items():
        await works(secured, replace(security, tls=True, ca_file=secured.certificates, mechanism=mechanism))
    right = Security(True, secured.certificates, mechanism="SCRAM-SHA-512", username=USER, password=PASSWORD)
    assert "can't be reached" in await refused(secured, replace(right, username="stranger"))
    assert "can't be reached" in await refused(secured, replace(right, ca_file=None))


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the certificates can't be used .*missing.pem"):
        Security(tls=True, ca_file=tmp_path / "missing.pem").arguments()
    with pytest.raises(BadInput, match="OAUTHBEARER needs a file"):
        Security(mechanism="OAUTHBEARER").arguments()


def test_a_secret_is_never_shown() -> None:
    assert "only" not in repr(Security(username="x", password="only-for-us"))
