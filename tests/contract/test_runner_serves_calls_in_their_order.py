from __future__ import annotations

import anyio

from engine.ports.taskrunner import ExitReason
from tests.contract.runner_adapters import EXITS_0, HANGS, RunnerWorld, key


async def test_one_slot(runner_world: RunnerWorld) -> None:
    begun: list[str] = []

    async def run(node: str) -> None:
        await runner.run(runner_world.request(EXITS_0, node), lambda: begun.append(node))

    async with runner_world.runner(slots=1) as runner, anyio.create_task_group() as tasks:
        for node in ("n0", "n1", "n2", "n3"):
            tasks.start_soon(run, node)
    assert begun == ["n0", "n1", "n2", "n3"]


async def test_no_more_at_once_than_slots(runner_world: RunnerWorld) -> None:
    nodes = ("n0", "n1", "n2", "n3")
    running = {node: anyio.Event() for node in nodes}

    def begun() -> list[str]:
        return [node for node in nodes if running[node].is_set()]

    async with runner_world.runner(slots=2) as runner, anyio.create_task_group() as tasks:
        for node in nodes:
            tasks.start_soon(runner.run, runner_world.request(HANGS, node), running[node].set)
        with anyio.fail_after(10):
            await running["n0"].wait()
            await running["n1"].wait()
            assert begun() == ["n0", "n1"]
            await runner.stop(key("n1"))
            await running["n2"].wait()
            assert begun() == ["n0", "n1", "n2"]
            await runner.stop(key("n3"))
            await runner.stop(key("n0"))
            await runner.stop(key("n2"))
    assert begun() == ["n0", "n1", "n2"]


async def test_the_wait_for_a_slot_is_not_part_of_the_timeout(runner_world: RunnerWorld) -> None:
    """The second attempt waits twice as long as it may run."""
    reasons: dict[str, ExitReason] = {}

    async def run(what: tuple[str, ...], node: str, timeout_seconds: float) -> None:
        request = runner_world.request(what, node, timeout_seconds)
        reasons[node] = (await runner.run(request, lambda: None)).reason

    async with runner_world.runner(slots=1) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(run, HANGS, "n0", 0.6)
        tasks.start_soon(run, EXITS_0, "n1", 0.3)
    assert reasons == {"n0": ExitReason.TIMED_OUT, "n1": ExitReason.EXITED}
