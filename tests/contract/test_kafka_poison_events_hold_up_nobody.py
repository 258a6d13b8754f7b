"""User case S08 on a real broker: whatever stands in the topic, what comes after it is handled, also after restarts."""

from __future__ import annotations

import anyio
import msgpack
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy

from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.visitor import Visitor
from engine.adapters.memory.blobs import MemoryBlobs
from engine.client.connecting import Client
from engine.machine import step
from engine.machine.draft import Rules
from engine.machine.execution import ExecutionState, Step
from engine.model.events import Event, NodeRetryRequested
from engine.model.phases import ExecutionPhase
from engine.ports.eventlog import CONTENT_TYPE
from tests.backing.session import address
from tests.contract.kafka_engine import DOMAIN, PROJECT, engine_on, letters_there, registered, served
from tests.contract.kafka_world import kafka_world

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(120)]
PATIENCE_SECONDS = 90.0


class Odd(str):
    """Text that a producer writes as bytes which are no UTF-8."""

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"\xff\xfe"


def about(name: str, **fields: object) -> dict[str, object]:
    return {"v": 1, "execution": {"project": PROJECT, "domain": DOMAIN, "name": name}, **fields}


def request(name: str) -> bytes:
    return bytes(msgpack.packb(about(name, type="execution.requested", entity="m.w", inputs={"n": 1})))


async def test_a_header_with_an_odd_name_is_no_end_of_the_partition() -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, client):
            async with AIOKafkaProducer(bootstrap_servers=address("kafka")) as producer:
                batch = producer.create_batch()
                batch._builder = _DefaultRecordBatchBuilderPy(2, 0, 0, -1, -1, -1, 16384)
                batch.append(timestamp=None, key=b"k", value=request("before"))
                batch.append(timestamp=None, key=b"k", value=b"{", headers=[(Odd("x"), b"y"), (CONTENT_TYPE, b"a")])
                batch.append(timestamp=None, key=b"k", value=request("odd"), headers=[(Odd("x"), None)])
                batch.close()
                await (await producer.send_batch(batch, world.clients.options.topic(Topic.EVENTS), partition=0))
            for name in ("before", "odd"):
                assert (await client.wait(client.named(name))).phase is ExecutionPhase.SUCCEEDED
            assert (await client.wait(await client.submit("m.w", {"n": 2}))).phase is ExecutionPhase.SUCCEEDED
            (letter,) = await world.log.dead_letters()
            assert (letter.raw, letter.headers) == (b"{", (("\ufffd\ufffd", b"y"), (CONTENT_TYPE, b"a")))


async def test_junk_and_events_that_raise_are_dead_lettered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = step.apply

    def raising(state: ExecutionState, event: Event, now: float, rules: Rules) -> Step:
        if isinstance(event, NodeRetryRequested):
            raise KeyError(event.path)
        return apply(state, event, now, rules)

    monkeypatch.setattr(step, "apply", raising)
    blobs = MemoryBlobs()
    await registered(blobs)
    with anyio.fail_after(PATIENCE_SECONDS):
        async with kafka_world() as world, Visitor.open(world.clients) as visitor:
            client = Client(visitor, blobs, (PROJECT, DOMAIN))
            phase = about("e0", type="execution.child_ended", key={"execution": about("e0")["execution"], "path": "n"})
            unknown = about("nobody", type="signal.set", signal_id="s", value_uri="u")
            raises = about("e5", type="node.retry_requested", path="n0")
            events = [
                request("e0"),
                b"\xff\x00junk",
                msgpack.packb({**phase, "child": about("e0")["execution"], "phase": 99}),
                msgpack.packb(unknown),
                request("e5"),
                msgpack.packb(raises),
                request("e6"),
            ]
            async with AIOKafkaProducer(bootstrap_servers=address("kafka")) as producer:
                for event in events:
                    await producer.send_and_wait(world.clients.options.topic(Topic.EVENTS), event, b"k", 0)
            async with engine_on(world, blobs):
                for name, ended in (("e0", "SUCCEEDED"), ("e5", "FAILED"), ("e6", "SUCCEEDED")):
                    found = await client.wait(client.named(name))
                    assert found.phase.value == ended
                await letters_there(world, 3)
            e5 = (await world.log.find([client.named("e5")]))[client.named("e5")]
            assert e5.error is not None
            assert (e5.error.kind.value, e5.error.code) == ("SYSTEM", "IllegalStateError")
            for _ in range(2):
                await world.let_go()
                world.log = await world.open()
                async with engine_on(world, blobs) as engine:
                    assert engine.unfinished() == []
            letters = await world.log.dead_letters()
            assert [letter.raw for letter in letters] == [events[1], events[2], events[5]]
            assert [letter.offset for letter in letters] == [1, 2, 5]
            assert "KeyError" in letters[2].reason
            assert world.log.cursor >= len(events)
