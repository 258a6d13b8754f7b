from __future__ import annotations

import anyio

from engine.ports.taskrunner import Exit, ExitReason, TaskRunner
from tests.contract.runner_adapters import EXITS_0, EXITS_3, HANGS, RunnerWorld, key


async def can_serve(runner: TaskRunner, world: RunnerWorld) -> bool:
    """Its slot is free again and a new attempt of the same node starts."""
    with anyio.fail_after(10):
        return (await runner.run(world.request(EXITS_3), lambda: None)).code == 3


async def test_too_slow(runner_world: RunnerWorld) -> None:
    async with runner_world.runner(slots=1) as runner:
        ended = await runner.run(runner_world.request(HANGS, timeout_seconds=0.2), lambda: None)
        assert ended.reason is ExitReason.TIMED_OUT
        assert "0.2 s" in ended.message
        assert await can_serve(runner, runner_world)


async def test_in_time(runner_world: RunnerWorld) -> None:
    async with runner_world.runner() as runner:
        ended = await runner.run(runner_world.request(EXITS_0, timeout_seconds=60), lambda: None)
    assert (ended.reason, ended.code) == (ExitReason.EXITED, 0)


async def test_stop_ends_a_running_attempt(runner_world: RunnerWorld) -> None:
    ends: list[Exit] = []
    running = anyio.Event()

    async def run() -> None:
        ends.append(await runner.run(runner_world.request(HANGS), running.set))

    async with runner_world.runner(slots=1) as runner:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await running.wait()
            await runner.stop(key("n0"))
            await runner.stop(key("n0"))
        assert [(ended.reason, ended.code) for ended in ends] == [(ExitReason.SIGNALLED, 15)]
        assert await can_serve(runner, runner_world)


async def test_stop_ends_an_attempt_that_waits_for_a_slot(runner_world: RunnerWorld) -> None:
    ends: list[Exit] = []
    running = anyio.Event()

    async def wait() -> None:
        ends.append(await runner.run(runner_world.request(EXITS_0, "n1"), running.set))

    async with runner_world.runner(slots=1) as runner:
        async with anyio.create_task_group() as tasks:
            held = anyio.Event()
            tasks.start_soon(runner.run, runner_world.request(HANGS), held.set)
            await held.wait()
            tasks.start_soon(wait)
            await anyio.lowlevel.checkpoint()
            await runner.stop(key("n1"))
            await runner.stop(key("n0"))
        assert [ended.reason for ended in ends] == [ExitReason.NOT_STARTED]
        assert not running.is_set()
        assert await can_serve(runner, runner_world)


async def test_stop_of_what_does_not_run_is_nothing(runner_world: RunnerWorld) -> None:
    async with runner_world.runner() as runner:
        await runner.stop(key("n7"))
        await runner.run(runner_world.request(EXITS_0), lambda: None)
        await runner.stop(key("n0"))


async def test_a_cancelled_call_ends_its_attempt_or_leaves_it_to_the_next(runner_world: RunnerWorld) -> None:
    running, again = anyio.Event(), anyio.Event()
    async with runner_world.runner(slots=1) as runner:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.run, runner_world.request(HANGS), running.set)
            await running.wait()
            tasks.cancel_scope.cancel()
        if runner_world.outlives:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(runner.run, runner_world.request(HANGS), again.set)
                await again.wait()
                await runner.stop(key("n0"))
        assert await can_serve(runner, runner_world)
