"""Whoever has the topic can answer a gate, in JSON or with a literal; what no gate takes is answered."""

from __future__ import annotations

import pytest
from flyteidl.core.literals_pb2 import Literal, Primitive, Scalar

from engine.model.state import Fact
from engine.wire.natural import natural_map
from tests.flow.asking import answer, publish
from tests.flow.engines import EXECUTION, World
from tests.flow.test_gates_are_answered_from_outside import _asking

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]
SEVEN = Literal(scalar=Scalar(primitive=Primitive(integer=7))).SerializeToString()


def given(signal_id: str, **fields: object) -> dict[str, object]:
    execution = {"project": EXECUTION.project, "domain": EXECUTION.domain, "name": EXECUTION.name}
    return {"v": 1, "type": "signal.given", "execution": execution, "signal_id": signal_id, **fields}


@pytest.mark.parametrize("as_json", [True, False])
async def test_a_value_and_an_approval_pass(as_json: bool) -> None:
    world = World(_asking())
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        publish(world, given("number", value=7 if as_json else SEVEN), as_json=as_json)
        publish(world, given("number", value=7))
        publish(world, given("fine", approve=True), as_json=as_json)
        ended = await engine.wait(EXECUTION)
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert natural_map(await world.blobs.get(ended.outputs_uri)) == {"o0": 7}
    assert world.log.answers == []
    assert await world.problems() == []


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (given("number", value="x", request="r"), "signal 'number': expected int, got \"x\""),
        (given("number", request="r"), "expected either `value` or `approve`"),
        (given("number", value=7, approve=True, request="r"), "expected either `value` or `approve`"),
        (given("number", approve=True, request="r"), "the signal 'number' (int) is no approval; give its value"),
        (given("other", value=7, request="r"), "no gate of the id 'other'; there are the signal 'number' (int)"),
        (
            {**given("number", value=7, request="r"), "execution": {"project": "p", "domain": "d", "name": "x"}},
            "there is",
        ),
    ],
)
async def test_what_no_gate_takes_is_answered(event: dict[str, object], words: str) -> None:
    world = World(_asking())
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        publish(world, event)
        rejected: Fact = await answer(world)
        assert (rejected.phase, rejected.sequence, rejected.request) == ("REJECTED", 0, "r")
        assert rejected.error is not None
        assert words in rejected.error.message
        publish(world, given("number", value=7))
        publish(world, given("fine", approve=True))
        assert (await engine.wait(EXECUTION)).phase.value == "SUCCEEDED"
    assert await world.log.dead_letters() == []
