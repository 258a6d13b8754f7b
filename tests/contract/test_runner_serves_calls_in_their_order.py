from __future__ import annotations

import anyio

from engine.ports.taskrunner import ExitReason
from tests.contract.runner_adapters import EXITS_0, HANGS, RunnerWorld


async def test_one_slot(runner_world: RunnerWorld) -> None:
    begun: list[str] = []

    async def run(node: str) -> None:
        await runner.run(runner_world.request(EXITS_0, node), lambda: begun.append(node))

    async with runner_world.runner(slots=1) as runner, anyio.create_task_group() as tasks:
        for node in ("n0", "n1", "n2", "n3"):
            tasks.start_soon(run, node)
    assert begun == ["n0", "n1", "n2", "n3"]


async def test_no_more_at_once_than_slots(runner_world: RunnerWorld) -> None:
    alive, most = 0, 0

    def started() -> None:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)

    async def run(node: str) -> None:
        nonlocal alive
        await runner.run(runner_world.request(EXITS_0, node), started)
        alive -= 1

    async with runner_world.runner(slots=2) as runner, anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(run, f"n{number}")
    assert (alive, most) == (0, 2)


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
