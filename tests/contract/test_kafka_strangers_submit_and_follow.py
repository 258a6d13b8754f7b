"""Whoever has the topics submits and follows: with the client library, or with nothing but a Kafka client."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import msgpack
import pytest
from aiokafka import AIOKafkaProducer

from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.visitor import Visitor
from engine.client.connecting import Client, ExecutionId, Rejected
from engine.model.errors import BadInput
from engine.model.phases import ExecutionPhase
from engine.wire.codec import unpack_fact
from tests import packages
from tests.backing.session import address
from tests.contract.kafka_engine import DOMAIN, PROJECT, registered, served
from tests.contract.kafka_world import kafka_world
from tests.flow.asking import TEXT

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(90)]
PATIENCE_SECONDS = 30.0
PAGE = Path(__file__).parents[2] / "docs" / "events.md"


async def test_a_submission_is_followed_to_its_end() -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (_, _, client):
            submitted = await client.submit("m.w:v1", {"n": 7})
            facts = [fact async for fact in client.follow(submitted)]
            assert [fact.sequence for fact in facts] == [*range(1, len(facts) + 1)]
            assert (facts[0].phase, facts[-1].phase, facts[-1].path) == ("RUNNING", "SUCCEEDED", "")
            ended = await client.wait(submitted.execution)
            assert (ended.phase, ended.error) == (ExecutionPhase.SUCCEEDED, None)
            assert await client.outputs(ended) == {"o0": 7}


async def test_the_same_name_again_gives_the_same_execution_and_another_content_is_rejected() -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, client):
            first = await client.wait(await client.submit("m.w:v1", {"n": 7}, name="order-7"))
            again = await client.wait(await client.submit("m.w:v1", {"n": 7}, name="order-7"))
            assert again == first
            with pytest.raises(Rejected, match=r"order-7 exists already \(SUCCEEDED\), with other content"):
                await client.wait(await client.submit("m.w:v1", {"n": 8}, name="order-7"))
            with pytest.raises(Rejected, match=r"inputs.n: expected int, got \"x\""):
                await client.wait(await client.submit("m.w", {"n": "x"}))
            assert len(await world.log.executions()) == 1
            numbers = [unpack_fact(record.value or b"").sequence for record in await world.records(Topic.HISTORY)]
            assert numbers.count(1) == 1
            assert await world.log.dead_letters() == []


async def test_the_answer_to_an_accepted_request_comes_too() -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (_, _, client):
            answer = await client.accepted(await client.submit("m.w", {"n": 1}))
            assert (answer.sequence, answer.error) == (0, None)


async def test_large_inputs_travel_by_the_store_and_without_one_are_refused() -> None:
    text = "x" * 2_000_000
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, blobs, client):
            workflow = packages.workflow("m.text", inputs={"s": TEXT}, gives={"o0": (TEXT, packages.given("s"))})
            digest = await registered(blobs, workflow, version="v2")
            ended = await client.wait(await client.submit("m.text:v2", {"s": text}))
            assert await client.outputs(ended) == {"o0": text}
            assert max(len(record.value or b"") for record in await world.records(Topic.EVENTS)) < 2000
            by_package = await client.wait(await client.submit("m.text", {"s": "y"}, package=digest))
            assert await client.outputs(by_package) == {"o0": "y"}
            async with Visitor.open(world.clients) as visitor:
                poor = Client(visitor, None, (PROJECT, DOMAIN))
                with pytest.raises(BadInput, match=r"more than the 1048576 that travel by themselves"):
                    await poor.submit("m.text:v2", {"s": text})
                with pytest.raises(BadInput, match="this client has no store for outputs"):
                    await poor.outputs(ended)


async def test_an_abort_and_an_unknown_cluster() -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, client):
            await client.abort(ExecutionId(PROJECT, DOMAIN, "nobody"))
            await client.wait(await client.submit("m.w", {"n": 1}))
            assert await world.log.dead_letters() == []
        async with kafka_world(partitions=1) as world:
            world.clients.options = type(world.clients.options)(address("kafka"), prefix="nowhere")
            with pytest.raises(BadInput, match="has no topics of engines that begin with 'nowhere'"):
                async with Visitor.open(world.clients):
                    pass


async def test_the_example_of_the_page_works_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    first = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)[0]
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(first, str(PAGE), "exec"), space)
    submit = cast("Callable[..., Awaitable[dict[str, Any]]]", space["submit"])
    assert inspect.iscoroutinefunction(submit)
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, _):
            prefix = world.clients.options.prefix
            fact = await submit(address("kafka"), "m.w:v1", {"n": 3}, "order-7", prefix)
            assert (fact["phase"], fact["outputs_uri"][-10:]) == ("SUCCEEDED", "outputs.pb")
            rejected = await submit(address("kafka"), "m.w:v1", {}, "order-8", prefix)
            assert rejected["phase"] == "REJECTED"
            assert "inputs.n: missing, expected int" in rejected["error"]["message"]


async def test_junk_of_strangers_is_dead_lettered_with_its_headers_and_holds_up_nobody() -> None:
    headers = [("content-type", b"application/json"), ("x", b"\xff"), ("none", None)]
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, client):
            topic = world.clients.options.topic(Topic.EVENTS)
            async with AIOKafkaProducer(bootstrap_servers=address("kafka")) as producer:
                for value in (b"{", None, b"\xff\x00", msgpack.packb({"v": 1, "type": "execution.requested"})):
                    await producer.send_and_wait(topic, value, b"k", 0, headers=headers)
            assert (await client.wait(await client.submit("m.w", {"n": 1}))).phase is ExecutionPhase.SUCCEEDED
            letters = await world.log.dead_letters()
            assert [letter.raw for letter in letters][:3] == [b"{", b"", b"\xff\x00"]
            assert len(letters) == 4
            assert letters[0].headers == (("content-type", b"application/json"), ("x", b"\xff"), ("none", b""))
