"""Gates in a whole engine: values pass type-checked into the workflow, sleeps end in time, crashes lose nothing."""

from __future__ import annotations

import anyio
import pytest
from flyteidl.core.literals_pb2 import Literal, Primitive, Scalar

from engine.app import Engine
from engine.loop.hooks import Place, nothing
from engine.model.graph import Program
from engine.model.state import Execution
from engine.wire.natural import natural_map
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_crash_at_any_hook_loses_nothing import PowerCut, cut_at
from tests.programs import INT, approve, gate, graph, interface, node, program, promise, sleep, task, wait_for_input

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


def _literal(primitive: Primitive) -> bytes:
    return Literal(scalar=Scalar(primitive=primitive)).SerializeToString()


SEVEN, TEXT = _literal(Primitive(integer=7)), _literal(Primitive(string_value="7"))
TRUE, FALSE = _literal(Primitive(boolean=True)), _literal(Primitive(boolean=False))


def _asking() -> Program:
    """n0 waits for a number, n1 copies it, n2 asks whether it may pass; the workflow gives what has passed."""
    work = task("work")
    nodes = [
        gate("n0", wait_for_input("number"), timeout=3600.0),
        node("n1", work.id, after=["n0"], bindings=[promise("a", "n0")]),
        gate("n2", approve("fine"), after=["n1"], bindings=[promise("value", "n1")], timeout=3600.0),
    ]
    outputs = [promise("o0", "n2", "value")]
    return program([graph("wf", nodes, outputs=outputs, face=interface({}, {"o0": INT}))], [work])


async def _answers(world: World, engine: Engine, *answers: tuple[str, bytes]) -> Execution:
    for signal_id, value in answers:
        await anyio.sleep(10)
        await engine.signal(EXECUTION, signal_id, value)
    return await engine.wait(EXECUTION)


async def _run(*answers: tuple[str, bytes]) -> tuple[World, Execution]:
    world = World(_asking())
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        ended = await _answers(world, engine, *answers)
    assert await world.problems() == []
    return world, ended


async def test_a_value_from_outside_passes_through_a_gate_and_an_approval() -> None:
    world, ended = await _run(("number", SEVEN), ("fine", TRUE))

    assert ended.phase.value == "SUCCEEDED", ended.error
    assert natural_map(await world.blobs.get(ended.outputs_uri)) == {"o0": 7}


async def test_an_answer_before_its_gate_is_kept() -> None:
    _, ended = await _run(("fine", TRUE), ("number", SEVEN))

    assert ended.phase.value == "SUCCEEDED", ended.error


async def test_a_rejection_fails_the_execution_with_flytes_code() -> None:
    _, ended = await _run(("number", SEVEN), ("fine", FALSE))

    assert ended.phase.value == "FAILED"
    assert ended.error is not None
    assert (ended.error.code, ended.error.kind.value, ended.error.node) == ("ReceivedRejectSignal", "USER", "n2")


async def test_a_value_of_another_type_goes_to_the_dead_letters_and_the_gate_waits_on() -> None:
    world, ended = await _run(
        ("number", TEXT), ("number", b"\xff\xff"), ("number", SEVEN), ("fine", SEVEN), ("fine", TRUE)
    )

    assert ended.phase.value == "SUCCEEDED", ended.error
    reasons = [letter.reason for letter in await world.log.dead_letters()]
    assert reasons[0] == "signal 'number' of p:d:e1 was refused: its value is str, expected int"
    assert reasons[1].startswith("signal 'number' of p:d:e1 was refused: its value is no literal")
    assert reasons[2] == "signal 'fine' of p:d:e1 was refused: its value is int, expected bool"
    assert len(reasons) == 3
    assert {letter.execution for letter in await world.log.dead_letters()} == {EXECUTION}


async def test_a_gate_that_nobody_answers_times_out() -> None:
    _, ended = await _run()

    assert ended.phase.value == "FAILED"
    assert ended.error is not None
    assert ended.error.code == "RetriesExhausted|TimeoutExpired"
    assert ended.ended_at - ended.started_at == pytest.approx(3600.0, abs=0.05)


@pytest.mark.parametrize("seconds", [0.0, 0.25, 2.0, 7200.0])
async def test_a_sleep_ends_within_50_ms_of_its_time(seconds: float) -> None:
    world = World(program([graph("wf", [gate("n0", sleep(seconds), timeout=3600.0)])]))
    ended = await world.run()
    slept = (await world.nodes())["n0"]

    assert ended.phase.value == "SUCCEEDED"
    assert seconds <= slept.ended_at - slept.started_at <= seconds + 0.05


async def test_a_sleep_that_ended_while_no_engine_ran_is_over_at_once() -> None:
    world = World(program([graph("wf", [gate("n0", sleep(60.0))])]))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        await anyio.sleep(1)
    world.crash()
    await anyio.sleep(600)
    begun = anyio.current_time()
    async with world.engine() as engine:
        ended = await engine.wait(EXECUTION)

    assert ended.phase.value == "SUCCEEDED"
    assert anyio.current_time() - begun < 0.05


@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_launch", "after_launch"])
@pytest.mark.parametrize("count", range(1, 9))
async def test_an_acknowledged_answer_survives_a_crash_anywhere(place: Place, count: int) -> None:
    world = World(_asking())
    world.hook = cut_at(place, count)
    answered: list[str] = []
    try:
        async with world.engine() as engine:
            await engine.submit(EXECUTION, world.first, "digest", b"")
            for signal_id, value in (("number", SEVEN), ("fine", TRUE)):
                await anyio.sleep(10)
                await engine.signal(EXECUTION, signal_id, value)
                answered.append(signal_id)
            await engine.wait(EXECUTION)
    except* PowerCut:
        world.crash()
        world.hook = nothing
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        for signal_id, value in (("number", SEVEN), ("fine", TRUE)):
            if signal_id not in answered:
                await engine.signal(EXECUTION, signal_id, value)
        ended = await engine.wait(EXECUTION)

    assert ended.phase.value == "SUCCEEDED", ended.error
    assert natural_map(await world.blobs.get(ended.outputs_uri)) == {"o0": 7}
    assert await world.problems() == []
    assert await world.log.dead_letters() == []
