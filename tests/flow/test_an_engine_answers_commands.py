"""What commands may ask of a running engine, and what they are told."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import anyio
import pytest

from engine.adapters.memory.scripts import ends, takes
from engine.gateway.commands import Desk
from engine.model.errors import BadInput
from engine.model.events import AbortRequested, AttemptSucceeded, Event, ExecutionSubmitted
from engine.model.ids import AttemptKey, EntityId, EntityKind
from engine.model.phases import ExecutionPhase
from engine.ports.taskrunner import Exit, ExitReason
from engine.wire.control import Done, Ended, Follow, Look, Moved, Piece, Print, Reply, Send, Submit
from tests import programs
from tests.flow.engines import EXECUTION, World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class Caller:
    """Listens, and may take its time."""

    def __init__(self, *, pause: float = 0.0) -> None:
        self.heard: list[Reply] = []
        self._pause = pause

    async def tell(self, reply: Reply) -> None:
        self.heard.append(reply)
        await anyio.sleep(self._pause)


def submission(world: World) -> ExecutionSubmitted:
    return ExecutionSubmitted(EXECUTION, world.first, world.program.digest)


async def no_letters(number: str) -> None:
    raise AssertionError(number)


async def test_a_submission_is_answered_when_it_is_durable() -> None:
    world, caller = World(programs.chain(2)), Caller()
    async with world.engine() as engine:
        desk = Desk(engine, no_letters)
        await desk.answer(Submit(submission(world)), caller.tell)
        await desk.answer(Follow(EXECUTION), caller.tell)
    assert caller.heard[0] == Done()
    assert caller.heard[-1] == Ended(ExecutionPhase.SUCCEEDED)
    assert set(caller.heard[1:-1]) == {Moved()}


async def test_what_an_attempt_has_printed_comes_piece_by_piece() -> None:
    world, caller, key = World(programs.chain(1)), Caller(), AttemptKey(EXECUTION, "n0")
    async with world.engine() as engine:
        desk = Desk(engine, no_letters)
        await desk.answer(Print(key), caller.tell)
        assert caller.heard == [Done()]

        async def printed(asked: AttemptKey) -> AsyncGenerator[bytes, None]:
            for piece in (b"one ", str(asked).encode()):
                yield piece

        engine.parts = replace(engine.parts, printed=printed)
        await desk.answer(Print(key), caller.tell)
    assert caller.heard[1:] == [Piece(b"one "), Piece(b"p:d:e1|n0|0|0"), Done()]


async def test_an_abort_is_an_event() -> None:
    world, caller = World(programs.chain(2), takes(3600.0, ends(Exit(ExitReason.EXITED)))), Caller()
    async with world.engine() as engine:
        desk = Desk(engine, no_letters)
        await desk.answer(Submit(submission(world)), caller.tell)
        await desk.answer(Send((AbortRequested(EXECUTION, "enough"),)), caller.tell)
        await desk.answer(Follow(EXECUTION), caller.tell)
    assert caller.heard[:2] == [Done(), Done()]
    assert caller.heard[-1] == Ended(ExecutionPhase.ABORTED)


async def test_who_follows_what_has_ended_is_told_at_once() -> None:
    world, caller = World(programs.chain(1)), Caller()
    await world.run()
    async with world.engine() as engine:
        await Desk(engine, no_letters).answer(Follow(EXECUTION), caller.tell)
    assert caller.heard[-1] == Ended(ExecutionPhase.SUCCEEDED)
    assert len(caller.heard) <= 2


async def test_a_slow_caller_is_told_once_of_all_that_happened_meanwhile() -> None:
    world, caller = World(programs.chain(200)), Caller(pause=1000.0)
    async with world.engine() as engine:
        desk = Desk(engine, no_letters)
        await desk.answer(Submit(submission(world)), Caller().tell)
        await desk.answer(Follow(EXECUTION), caller.tell)
    *moves, end = caller.heard
    assert (moves, end) == ([Moved()], Ended(ExecutionPhase.SUCCEEDED))


async def test_what_a_child_execution_does_is_told_too() -> None:
    work = programs.task("work", programs.interface({}, {}))
    nodes = [programs.node(f"n{k}", work.id, after=[f"n{k - 1}"] if k else []) for k in range(9)]
    inner = programs.graph("inner", nodes)
    plan = programs.plan("plan", inner)
    outer = programs.graph("outer", [programs.node("n0", plan.id)])
    world, caller = World(programs.program([outer, inner], [work], [plan])), Caller()
    async with world.engine() as engine:
        desk = Desk(engine, no_letters)
        await desk.answer(Submit(submission(world)), Caller().tell)
        await desk.answer(Follow(EXECUTION), caller.tell)
    assert caller.heard.count(Moved()) > 9, "the parent itself has moved in a handful of turns"


@pytest.mark.parametrize(
    "event",
    [
        AttemptSucceeded(AttemptKey(EXECUTION, "n0")),
        ExecutionSubmitted(EXECUTION, EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "v1"), "digest"),
    ],
)
async def test_what_is_not_for_a_command_to_say_is_refused(event: Event) -> None:
    world, caller = World(programs.chain(1)), Caller()
    async with world.engine() as engine:
        with pytest.raises(BadInput, match=f"{type(event).__name__} can't be sent"):
            await Desk(engine, no_letters).answer(Send((event,)), caller.tell)
    assert caller.heard == []
    assert await world.log.executions() == []


async def test_the_engines_bell_is_rung() -> None:
    world, caller = World(programs.chain(1)), Caller()
    async with world.engine() as engine:
        await Desk(engine, no_letters).answer(Look(), caller.tell)
        await engine.bell.heard()
    assert caller.heard == [Done()]


async def test_an_idle_engine_takes_in_and_starts_nothing() -> None:
    world = World(programs.chain(2))
    async with world.engine(idle=True) as engine:
        await engine.accept(submission(world), b"")
        await engine.send([AbortRequested(EXECUTION, "enough")])
        await anyio.sleep(60)
    assert world.runner.launches == {}
    async with world.engine() as engine:
        ended = await engine.wait(EXECUTION)
    assert ended.phase is ExecutionPhase.ABORTED
    assert await world.problems() == []
