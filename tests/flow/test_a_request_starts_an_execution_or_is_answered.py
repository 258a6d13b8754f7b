"""Whoever has the topic can submit what is registered, twice as well as once; what can't be done is answered."""

from __future__ import annotations

import base64

import anyio
import pytest
from flyteidl.core.literals_pb2 import Literal, LiteralMap, Primitive, Scalar

from engine.model.ids import EntityKind
from engine.model.state import Execution, Fact
from engine.wire.natural import Json, natural_map
from tests.flow.asking import answer, asked, named, publish, request
from tests.flow.engines import World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


def literals(**values: int | str) -> bytes:
    made = {
        name: Primitive(integer=value) if isinstance(value, int) else Primitive(string_value=value)
        for name, value in values.items()
    }
    return LiteralMap(
        literals={name: Literal(scalar=Scalar(primitive=made[name])) for name in made}
    ).SerializeToString()


async def outputs(world: World, ended: Execution) -> dict[str, Json]:
    return natural_map(await world.blobs.get(ended.outputs_uri))


@pytest.mark.parametrize("as_json", [True, False])
async def test_what_is_registered_runs_with_its_inputs_given_in_the_event(as_json: bool) -> None:
    async with asked("v1", "v2") as (world, engine):
        publish(world, request(), as_json=as_json)
        ended = await engine.wait(named("e1"))
        assert ended.phase.value == "SUCCEEDED"
        assert await outputs(world, ended) == {"o0": 7}
        assert (ended.entity.kind, ended.entity.name, ended.entity.version) == (EntityKind.LAUNCH_PLAN, "m.w", "v1")
        assert ended.run
        facts = await world.facts(named("e1"))
        assert [fact.sequence for fact in facts] == [*range(1, len(facts) + 1)]
        assert (facts[-1].phase, facts[-1].outputs_uri) == ("SUCCEEDED", ended.outputs_uri)
        assert world.log.answers == []
        assert await world.log.dead_letters() == []


async def test_a_name_without_a_version_means_what_was_registered_last() -> None:
    async with asked("v1", "v2") as (world, engine):
        publish(world, request(entity="w"))
        assert (await engine.wait(named("e1"))).entity.version == "v2"


async def test_a_package_in_the_store_can_be_named() -> None:
    async with asked() as (world, engine):
        publish(world, request(entity="m.w", package=world.program.digest))
        ended = await engine.wait(named("e1"))
        assert (ended.phase.value, ended.entity.version, ended.package) == ("SUCCEEDED", "v0", world.program.digest)


async def test_inputs_may_be_literals_or_lie_in_the_store() -> None:
    async with asked() as (world, engine):
        publish(world, request(inputs=literals(n=8)), as_json=False)
        assert await outputs(world, await engine.wait(named("e1"))) == {"o0": 8}
        publish(world, request("e3", inputs=base64.b64encode(literals(n=5)).decode()))
        assert await outputs(world, await engine.wait(named("e3"))) == {"o0": 5}
        uri = world.blobs.uri("somewhere/inputs.pb")
        await world.blobs.put(uri, literals(n=9))
        publish(world, request("e2", inputs={}, inputs_uri=uri))
        assert await outputs(world, await engine.wait(named("e2"))) == {"o0": 9}


async def test_the_same_request_again_is_answered_with_what_has_become_of_it() -> None:
    async with asked("v1") as (world, engine):
        for number in range(3):
            publish(world, request(request=f"r{number}"), as_json=number != 1)
        ended = await engine.wait(named("e1"))
        facts = await world.facts(named("e1"))
        publish(world, request(request="late"))
        late = await answer(world, 4)
        assert late == Fact(named("e1"), 0, late.at, "SUCCEEDED", outputs_uri=ended.outputs_uri, request="late")
        assert [found.request for found in world.log.answers] == ["r0", "r1", "r2", "late"]
        assert await world.facts(named("e1")) == facts
        assert await world.log.dead_letters() == []


async def test_another_request_of_a_name_is_rejected_and_changes_nothing() -> None:
    async with asked() as (world, engine):
        publish(world, request())
        publish(world, request(inputs={"n": 8}, request="mine"))
        ended = await engine.wait(named("e1"))
        rejected = await answer(world)
        assert (rejected.phase, rejected.sequence, rejected.request) == ("REJECTED", 0, "mine")
        assert rejected.error is not None
        assert "p:d:e1 exists already (RUNNING), with other content" in rejected.error.message
        assert await outputs(world, ended) == {"o0": 7}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"entity": "m.nope"}, "'m.nope' is registered in p:d. There are: m.w."),
        ({"entity": "m.w:v9"}, "launch plan m.w has no version 'v9'; there are: v1"),
        ({"entity": "m.w", "package": "0" * 64}, f"package {'0' * 64} is not in the store"),
        ({"package": "../../etc"}, "package '../../etc' is no digest: expected 64 of 0-9 and a-f"),
        ({"inputs": {}}, "inputs.n: missing, expected int"),
        ({"inputs": {"n": "x", "m": 1}}, 'inputs.n: expected int, got "x"'),
        ({"inputs": {}, "inputs_uri": "memory://store/nowhere"}, "its inputs can't be read: no object at"),
        ({"inputs_uri": "memory://store/nowhere"}, "it has both `inputs` and `inputs_uri`"),
        ({"execution": {"project": "p", "domain": "d", "name": "E_1"}}, "name 'E_1' is no DNS label"),
        ({"execution": {"project": "../..", "domain": "d", "name": "e1"}}, "project '../..' is no DNS label"),
        ({"overrides": {"envs": {"A=B": "c"}}}, "overrides.envs: 'A=B' is no name of a variable"),
        ({"overrides": {"envs": {"A": "c\0d"}}}, "overrides.envs: the value of 'A' holds a zero byte"),
        (
            {"overrides": {"raw_output_prefix": "ftp://x"}},
            "overrides.raw_output_prefix: tasks can't write to 'ftp://x', expected s3://, gs://",
        ),
        ({"overrides": {"architecture": "mips"}}, "overrides.architecture: 'mips' is none of amd64, arm64"),
        ({"overrides": {"labels": {"a": "x" * 300_000}}}, "at most 262144 can be kept"),
        ({"inputs": {"n": "x" * 2_000_000}}, "more than 1048576; give large inputs by `inputs_uri`"),
        ({"request": "x" * 129}, "`request` has 129 characters, more than 128"),
    ],
)
async def test_what_can_t_be_done_is_rejected_with_the_reason(fields: dict[str, object], words: str) -> None:
    async with asked() as (world, engine):
        publish(world, {**request(), **fields})
        rejected = await answer(world)
        assert (rejected.phase, rejected.sequence) == ("REJECTED", 0)
        assert rejected.error is not None
        assert words in rejected.error.message
        assert (rejected.error.code, rejected.error.kind.value) == ("BadInput", "USER")
        assert await world.log.executions() == []
        # The name is free, and the partition goes on.
        publish(world, request())
        assert (await engine.wait(named("e1"))).phase.value == "SUCCEEDED"
        assert await world.log.dead_letters() == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"\xff\xff", "2 bytes that are no LiteralMap"),
        (literals(n="x"), "inputs.n: expected int, got a literal of str"),
        (literals(m=1), "inputs.m: no such input"),
    ],
)
async def test_literals_are_checked_too(given: bytes, words: str) -> None:
    async with asked() as (world, _):
        publish(world, request(inputs=given), as_json=False)
        rejected = await answer(world)
        assert rejected.error is not None
        assert words in rejected.error.message


async def test_a_crash_after_a_request_was_read_starts_it_once() -> None:
    async with asked() as (world, _):
        pass
    places: list[str] = []
    world.hook = lambda place: places.append(place) if places else _cut(places)
    publish(world, request())
    with pytest.raises(BaseExceptionGroup):
        async with world.engine():
            await anyio.sleep(60)
    world.crash()
    async with world.engine() as engine:
        ended = await engine.wait(named("e1"))
    assert ended.phase.value == "SUCCEEDED"
    assert await world.problems() == []


def _cut(places: list[str]) -> None:
    places.append("cut")
    raise OSError("power cut")
