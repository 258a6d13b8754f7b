"""`propwash dead-letters` on a home and on Kafka."""

from __future__ import annotations

import base64
from functools import partial

import anyio
import pytest
from aiokafka import AIOKafkaProducer
from anyio import to_thread

from engine.adapters.sqlite.log import SqliteLog
from engine.model.events import AbortRequested
from engine.model.ids import ExecutionId
from engine.ports.eventlog import Changes, DeadLetter
from engine.wire.codec import pack_event
from tests.backing.session import address
from tests.contract.kafka_engine import letters_there, served
from tests.service.command import Propwash, propwash

__all__ = ["propwash"]
EXECUTION = ExecutionId("p", "d", "e1")
ABORT = AbortRequested(EXECUTION, "no longer needed")


async def fill(propwash: Propwash) -> None:
    """A home with two dead letters: an event whose handler once raised, and junk."""
    propwash.home.mkdir()
    async with SqliteLog.open(propwash.home) as log:
        letters = [
            DeadLetter(7, pack_event(ABORT), "KeyError: 'n0'", EXECUTION),
            DeadLetter(8, b"\xffjunk", "an event can't be read: 5 bytes are no msgpack map"),
        ]
        await log.commit((), Changes(dead_letters=letters))


def test_those_of_a_home(propwash: Propwash) -> None:
    anyio.run(fill, propwash)
    listed = propwash("dead-letters", "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out == (
        "ID  EXECUTION  REASON\n"
        "1   p:d:e1     KeyError: 'n0'\n"
        "2              an event can't be read: 5 bytes are no msgpack map\n"
    )
    shown = propwash("dead-letters", "show", "1")
    assert "reason: KeyError: 'n0'\n" in shown.out
    assert '"cause": "no longer needed"' in shown.out
    (document,) = [one for one in propwash("dead-letters", "list", "--json").document if one["id"] == "2"]
    assert (base64.b64decode(document["bytes"]), document["event"], document["replayed"]) == (b"\xffjunk", None, False)
    assert propwash("dead-letters", "show", "3").err == "Error: there is no dead letter '3'; there are: 1, 2\n"
    assert propwash("dead-letters", "replay").code == 2

    assert propwash("dead-letters", "replay", "1").out == "dead letter 1 is appended to the events again\n"
    again = propwash("dead-letters", "replay", "1")
    assert (again.code, again.out) == (0, "dead letter 1 was replayed already; nothing was appended\n")
    refused = propwash("dead-letters", "replay", "2")
    assert refused.code == 2
    assert "dead letter 2 can't be read by this version either: an event can't be read: 5 bytes" in refused.err
    assert propwash("dead-letters", "list").out.splitlines()[1].startswith("2 ")
    assert len(propwash("dead-letters", "list", "--all").out.splitlines()) == 3
    assert anyio.run(events_of, propwash) == [ABORT]


async def events_of(propwash: Propwash) -> list[object]:
    async with SqliteLog.open_readonly(propwash.home) as log:
        return [record.event for record in await log.events()]


@pytest.mark.service("kafka")
@pytest.mark.timeout(240)
async def test_those_on_kafka(propwash: Propwash) -> None:
    with anyio.fail_after(200):
        async with served() as (world, _, _):
            options = world.clients.options
            async with AIOKafkaProducer(bootstrap_servers=address("kafka")) as producer:
                await producer.send_and_wait(f"{options.prefix}.events", b"{", b"k", 0, headers=[("x", b"y")])
            await letters_there(world, 1)
            where = ("--kafka", address("kafka"), "--set", f"kafka.prefix={options.prefix}")
            run = partial(to_thread.run_sync, abandon_on_cancel=True)
            listed = await run(partial(propwash, "dead-letters", "list", "--json", *where))
            (document,) = listed.document
            assert (document["id"], document["bytes"]) == ("0/0", base64.b64encode(b"{").decode())
            assert document["headers"] == {"x": base64.b64encode(b"y").decode()}
            raw = await run(partial(propwash, "dead-letters", "show", "0/0", "--raw", *where))
            assert raw.out == "{"
            replayed = await run(partial(propwash, "dead-letters", "replay", "--all", *where))
            assert replayed.out == "dead letter 0/0 is appended to the events again\n", replayed.err
            await letters_there(world, 2)
            shown = await run(partial(propwash, "dead-letters", "list", *where))
            assert "0/0 " not in shown.out
