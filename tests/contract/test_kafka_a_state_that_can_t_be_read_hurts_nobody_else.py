"""Whatever stands in the topic of states: one execution is set aside and told, all others are restored and go on."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest
from aiokafka import AIOKafkaProducer

from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.states import _HEADER, ENDED_BEFORE, HEADER
from engine.model.errors import LogFailed
from engine.model.phases import ExecutionPhase
from engine.model.state import Snapshot
from engine.ports.eventlog import Changes
from engine.wire import codec
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.contract.log_nouns import execution, named, node, submitted, take
from tests.contract.projected import Told
from tests.contract.test_kafka_states_and_history_are_projected import Heard, following

pytestmark = pytest.mark.service("kafka")
LIVE, ENDED = _HEADER.pack(7, 1.0, False), _HEADER.pack(7, 1.0, True)
A = codec.pack_execution(execution("a"))
NEWER = msgspec.msgpack.encode({**msgspec.msgpack.decode(A), "v": 99})
KINDS: dict[str, tuple[bytes, bytes, bytes | None, str]] = {
    "garbage": (b"p:d:a", b"\xff\x00junk", LIVE, "bytes are no msgpack map"),
    "empty": (b"p:d:a", b"", LIVE, "0 bytes are no msgpack map"),
    "cut": (b"p:d:a", A[:-9], LIVE, "bytes are no msgpack map"),
    "newer": (b"p:d:a", NEWER, LIVE, "version 99 can't be read"),
    "partial": (b"p:d:a", msgspec.msgpack.encode({"v": 1}), LIVE, "an execution can't be read"),
    "no header": (b"p:d:a", A, None, "has no header 'execution'"),
    "odd header": (b"p:d:a", A, b"odd", "has no header 'execution'"),
    "of another": (b"p:d:a", codec.pack_execution(execution("x")), LIVE, "its record is of"),
    "bad node": (b"p:d:a|n0", b"\xff\x00junk", None, "bytes are no msgpack map"),
    "unknown key": (b"junk", A, LIVE, "the key b'junk' is of no execution"),
    "empty key": (b"", A, LIVE, "the key b'' is of no execution"),
    "odd path": (b"p:d:a|%ff", b"x", None, "its path is no UTF-8"),
    "lonely node": (b"p:d:lonely|n0", codec.pack_node(node("n0")), None, "1 nodes, and no record of their execution"),
}
SPARED = {"unknown key", "empty key", "odd path", "lonely node"}
"""Of these, execution `a` knows nothing."""


async def write(world: KafkaWorld, key: bytes, value: bytes | None, header: bytes | None = None) -> None:
    """As a stranger, or an engine that is beside itself."""
    async with AIOKafkaProducer(**world.clients.common) as producer:
        headers = [(HEADER, header)] if header is not None else []
        await producer.send_and_wait(
            world.clients.options.topic(Topic.STATE), value, key=key, partition=0, headers=headers
        )


async def goes_on(world: KafkaWorld) -> None:
    await world.log.append([submitted("b")], durable=True)
    assert await take(world.log, Changes(executions=[execution("b")])) == [submitted("b")]


@pytest.mark.parametrize("kind", KINDS)
async def test_it_is_set_aside_and_told(kind: str, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    key, value, header, cause = KINDS[kind]
    async with kafka_world() as world:
        changes = Changes(executions=[execution("a"), execution("good")], nodes=[(named("a"), node("n0"))])
        await world.log.commit((), changes)
        await write(world, key, value, header)
        with caplog.at_level(logging.ERROR):
            await world.crash()
            found = [snapshot async for snapshot in world.log.restore()]
        spared = [Snapshot(execution("a"), (node("n0"),))] if kind in SPARED else []
        good = Snapshot(execution("good"), ())
        assert sorted(found, key=lambda it: it.execution.id.name) == [*spared, good]
        known = await world.log.find([named("a"), named("good")])
        assert named("good") in known
        assert cause in "".join(getattr(record, "cause", "") for record in caplog.records)
        (told, *_) = (record for record in caplog.records if cause in getattr(record, "cause", ""))
        assert (getattr(told, "topic", ""), getattr(told, "partition", None)) == (
            world.clients.options.topic(Topic.STATE),
            0,
        )
        await goes_on(world)
        assert named("b") in await world.log.find([named("b")])
        heard: Told = Heard()
        async with following(world, tmp_path, heard) as projection:  # type: ignore[arg-type]
            assert named("good") in {record.id for record in await projection.executions()}


async def test_a_record_that_follows_its_end_does_not_bring_it_back(caplog: pytest.LogCaptureFixture) -> None:
    async with kafka_world() as world:
        await world.log.commit((), Changes(executions=[execution("a")], nodes=[(named("a"), node("n0"))]))
        await world.log.commit((), Changes(executions=[execution("a", ExecutionPhase.SUCCEEDED), execution("good")]))
        await write(world, b"p:d:a", A, LIVE)
        await write(world, b"p:d:a", A, LIVE)
        for _ in range(2):
            await world.crash()
            assert [snapshot.execution.id async for snapshot in world.log.restore()] == [named("good")]
            assert await world.log.find([named("a")]) == {}
            assert await world.log.snapshot(named("good")) == Snapshot(execution("good"), ())
        told = [record for record in caplog.records if getattr(record, "cause", "") == ENDED_BEFORE]
        assert {getattr(record, "execution", "") for record in told} == {"p:d:a"}
        await goes_on(world)


async def test_a_new_execution_of_its_name_inherits_nothing() -> None:
    async with kafka_world() as world:
        old = [(named("a"), node("n0")), (named("a"), node("n1"))]
        await world.log.commit((), Changes(executions=[execution("a")], nodes=old))
        await write(world, b"p:d:a|n1", b"junk")
        await world.crash()
        assert [snapshot async for snapshot in world.log.restore()] == []
        await world.log.commit((), Changes(executions=[execution("a")], nodes=old[:1]))
        await world.crash()
        assert [snapshot async for snapshot in world.log.restore()] == [Snapshot(execution("a"), (node("n0"),))]


async def test_a_claim_that_can_t_be_read_is_no_claim() -> None:
    async with kafka_world() as world:
        await world.log.append([submitted("a")], durable=True)
        await take(world.log)
        for value in (b"\xff", None, b"\x81\xa6cursor\xa1x"):
            await write(world, b"#claim", value)
        await world.crash()
        assert world.log.cursor == 1
        await goes_on(world)


async def test_a_partition_without_a_claim_that_can_be_read_is_left_alone() -> None:
    async with kafka_world(partitions=2) as world:
        async with AIOKafkaProducer(**world.clients.common) as producer:
            await producer.send_and_wait(world.clients.options.topic(Topic.STATE), b"\xff", key=b"#claim", partition=1)
        with pytest.raises(LogFailed, match="has no claim that can be read"):
            await world.open(1)
        await world.log.commit((), Changes(executions=[execution("a")]))
        assert named("a") in await world.log.find([named("a")])
