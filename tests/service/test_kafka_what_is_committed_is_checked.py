"""`propwash check` on Kafka: nothing is found while engines work, and whatever is put out of order is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from flyteidl.core.literals_pb2 import LiteralMap
from msgspec import structs

from engine.adapters.kafka.claim import Claim, claim_in
from engine.adapters.kafka.keys import key_of, node_key, partition_of
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.records import event_message, fact_in, fact_message
from engine.adapters.kafka.sending import deliver, grouped
from engine.adapters.kafka.states import HEADER
from engine.cli.cluster_audit import audit_cluster
from engine.cli.inspection import Counts
from engine.machine.replay import Problem
from engine.model import layout
from engine.model.events import ExecutionSubmitted
from engine.model.ids import EntityId, ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Execution
from engine.registry.registering import register_package
from engine.wire import codec
from engine.wire.natural import natural_map
from tests import packages
from tests.contract.kafka_world import partition_records
from tests.flow.asking import INT
from tests.service.fleets_here import Ends, Here, until

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(240)]
PARTITIONS = 3


class Checked:
    """Executions of a workflow with a child, on three partitions."""

    def __init__(self) -> None:
        self.here, self.ends = Here(PARTITIONS), Ends()
        self.clients = self.here.clients
        self._entity: EntityId
        self._package = ""

    async def register(self) -> None:
        child = packages.workflow(
            "m.child",
            packages.node("n0", {"a": packages.given("n")}),
            gives={"o0": (INT, packages.output("n0"))},
        )
        calls = packages.calls("n1", {"n": packages.output("n0")}, plan="m.child")
        parent = packages.workflow(
            "m.w", packages.node("n0", {"a": packages.given("n")}), calls, gives={"o0": (INT, packages.output("n1"))}
        )
        both = packages.task("m.t"), child, packages.plan("m.child", child), parent, packages.plan("m.w", parent)
        done = await register_package(self.here.registry, packages.registered(*both), "package", "", 1.0)
        (self._entity,) = (plan for plan in done.program.launch_plans if plan.name == "m.w")
        (entry,) = (await self.here.registry.find([self._entity])).values()
        self._package = entry.package

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        async with self.here.fleet("a") as fleet:
            await until(lambda: fleet.ready and len(fleet.engines) == PARTITIONS)
            fleet.watchers.add(self.ends.see)
            self._fleet = fleet
            yield

    async def run(self, names: Sequence[str]) -> None:
        for name in names:
            inputs = LiteralMap(literals={"n": packages.literal(4)}).SerializeToString()
            await self._fleet.accept(ExecutionSubmitted(named(name), self._entity, self._package), inputs)
        await self.ends.all(2 * len(names))

    async def check(self) -> tuple[list[Problem], Counts]:
        problems: list[Problem] = []
        counts = await audit_cluster(self.clients, self.here.blobs, problems.append)
        return problems, counts

    async def found(self) -> list[tuple[str, str, str]]:
        return [(found.execution, found.node, found.what) for found in (await self.check())[0]]

    async def write(self, *messages: Message) -> None:
        """As anybody may who has the rights."""
        producer = await self.clients.start_producer()
        try:
            await deliver(producer, grouped(messages, self.here.options))
        finally:
            await producer.stop()

    async def state(self, name: str) -> tuple[Execution, Message]:
        """An execution, and the last record of it."""
        place, key = partition_of(named(name), PARTITIONS), key_of(named(name))
        found = [each for each in await partition_records(self.clients, Topic.STATE, place) if each.key == key][-1]
        assert found.value is not None
        header = (HEADER, dict(found.headers)[HEADER])
        return codec.unpack_execution(found.value), Message(Topic.STATE, place, key, found.value, (header,))


def named(name: str) -> ExecutionId:
    return ExecutionId("p", "d", name)


@asynccontextmanager
async def checked(count: int) -> AsyncIterator[Checked]:
    """So many executions have ended; nobody works any more."""
    world = Checked()
    await world.register()
    async with world.working():
        await world.run([f"e{number}" for number in range(count)])
    yield world


async def test_while_engines_work_there_is_nothing_to_find() -> None:
    world, rounds = Checked(), 0
    await world.register()
    async with world.working(), anyio.create_task_group() as group:
        over = anyio.Event()

        async def work() -> None:
            await world.run([f"e{number}" for number in range(150)])
            over.set()

        group.start_soon(work)
        while not over.is_set():
            problems, counts = await world.check()
            assert problems == []
            rounds += counts.executions > 0
    assert rounds > 0
    problems, counts = await world.check()
    assert problems == []
    assert (counts.executions, counts.unfinished, counts.dead_letters) == (300, 0, 0)
    assert 150 < counts.cursor <= counts.last_event
    assert counts.nodes == 150 * 4 + 150 * 3
    assert counts.facts > 5 * counts.executions
    assert counts.objects > 300


async def test_what_was_put_out_of_order_is_found() -> None:
    async with checked(8) as world:
        place = {name: partition_of(named(name), PARTITIONS) for name in map("e{}".format, range(8))}
        await world.write(Message(Topic.STATE, place["e0"], node_key(key_of(named("e0")), "n0"), None))
        assert await world.found() == [("p:d:e0", "n0", "has no state")]

        record, message = await world.state("e1")
        history = await partition_records(world.clients, Topic.HISTORY, place["e1"])
        last = [fact for fact in map(fact_in, history) if fact.execution == named("e1")][-1]
        await world.write(fact_message(structs.replace(last, sequence=last.sequence + 1), place["e1"]))
        assert ("p:d:e1", "", f"its state knows {record.sequence} facts") in await world.found()

        record, message = await world.state("e2")
        again = codec.pack_execution(structs.replace(record, sequence=record.sequence + 2))
        await world.write(Message(Topic.STATE, place["e2"], message.key, again, message.headers))
        assert ("p:d:e2", "", f"its state knows {record.sequence + 2} facts") in await world.found()

        await world.write(Message(Topic.STATE, place["e3"], key_of(named("e3")), b"\xc1"))
        strange = [found for found in (await world.check())[0] if found.expected == "a record of this version"]
        assert [found.execution for found in strange] == ["p:d:e3"]

        await world.here.blobs.delete(world.here.blobs.uri(layout.execution_prefix(named("e4"))))
        lost = [what for execution, _, what in await world.found() if execution == "p:d:e4"]
        assert lost
        assert all("no object at" in what for what in lost)


async def test_a_submission_that_was_passed_over_is_found() -> None:
    async with checked(2) as world:
        lost = ExecutionSubmitted(named("lost"), packages.plan_id("m.w"), "digest", run="r")
        place = partition_of(lost.execution, PARTITIONS)
        await world.write(event_message(lost, world.here.options))
        assert await world.found() == [], "it waits"
        events = await partition_records(world.clients, Topic.EVENTS, place)
        claims = [claim_in(each) for each in await partition_records(world.clients, Topic.STATE, place)]
        claim = [claim for claim in claims if claim is not None][-1]
        passed = structs.replace(claim, cursor=events[-1].offset + 1)
        await world.write(passed.message(place))
        assert await world.found() == [("p:d:lost", "", "was submitted and is not there")]

        await world.write(Claim(claim.owner, 10**6, claim.turn + 1).message(place))
        assert ("", "", f"partition {place}: the cursor is 1000000") in await world.found()


async def test_a_parent_that_says_otherwise_than_its_child_is_found() -> None:
    async with checked(1) as world:
        place, key = partition_of(named("e0"), PARTITIONS), node_key(key_of(named("e0")), "n1")
        records = await partition_records(world.clients, Topic.STATE, place)
        raw = [each.value for each in records if each.key == key][-1]
        assert raw is not None
        node = codec.unpack_node(raw)
        assert node.phase is NodePhase.SUCCEEDED
        assert natural_map(await world.here.blobs.get(node.outputs_uri)) == {"o0": 4}
        inputs = structs.replace(node, outputs_uri=node.inputs_uri)
        await world.write(Message(Topic.STATE, place, key, codec.pack_node(inputs)))
        (child,) = [what for _, path, what in await world.found() if path == "n1"]
        assert child == f"its outputs are {node.inputs_uri!r}"

        live = structs.replace(node, phase=NodePhase.RUNNING, outputs_uri="", ended_at=0.0)
        await world.write(Message(Topic.STATE, place, key, codec.pack_node(live)))
        found = [what for _, path, what in await world.found() if path == "n1"]
        assert "is RUNNING, its child execution is SUCCEEDED" in found
        waits = ExecutionSubmitted(named("waits"), packages.plan_id("m.w"), "digest", run="r")
        await world.write(structs.replace(event_message(waits, world.here.options), partition=place))
        found = [what for _, path, what in await world.found() if path == "n1"]
        assert "is RUNNING, its child execution is SUCCEEDED" not in found, "the news may be on its way"
