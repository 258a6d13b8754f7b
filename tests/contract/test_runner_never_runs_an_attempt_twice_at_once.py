from __future__ import annotations

import anyio

from engine.ports.taskrunner import Exit, ExitReason
from tests.contract.runner_adapters import HANGS, RunnerWorld, key


async def test_a_second_call_joins_the_first(runner_world: RunnerWorld) -> None:
    """With one slot, a second process would never start; a third call joins after the start."""
    ends: list[Exit] = []
    started = [anyio.Event(), anyio.Event(), anyio.Event()]

    async def run(number: int) -> None:
        ends.append(await runner.run(runner_world.request(HANGS), started[number].set))

    async with runner_world.runner(slots=1) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(run, 0)
        tasks.start_soon(run, 1)
        with anyio.fail_after(10):
            await started[0].wait()
            await started[1].wait()
            tasks.start_soon(run, 2)
            await started[2].wait()
        await runner.stop(key("n0"))
    assert len(ends) == 3
    assert ends[0] == ends[1] == ends[2]
    assert ends[0].reason is ExitReason.SIGNALLED


async def test_a_cancelled_second_call_ends_the_attempt_too_unless_it_outlives_calls(runner_world: RunnerWorld) -> None:
    ends: list[Exit] = []
    running = anyio.Event()

    async def run() -> None:
        ends.append(await runner.run(runner_world.request(HANGS), running.set))

    async with runner_world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await running.wait()
        async with anyio.create_task_group() as others:
            joined = anyio.Event()
            others.start_soon(runner.run, runner_world.request(HANGS), joined.set)
            await joined.wait()
            others.cancel_scope.cancel()
        if runner_world.outlives:
            assert ends == []
            await runner.stop(key("n0"))
    assert [ended.reason for ended in ends] == [ExitReason.SIGNALLED]
