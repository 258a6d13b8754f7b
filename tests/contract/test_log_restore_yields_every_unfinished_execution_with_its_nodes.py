from __future__ import annotations

from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Snapshot
from engine.ports.eventlog import Changes, EventLog
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import execution, named, node


async def restored(log: EventLog) -> list[Snapshot]:
    return [snapshot async for snapshot in log.restore()]


async def test_finished_executions_are_left_out_and_the_oldest_comes_first(log_world: LogWorld) -> None:
    for name in ("zeta", "mid", "alpha"):
        nodes = [(named(name), node("n1", NodePhase.RUNNING)), (named(name), node("n0"))]
        await log_world.log.commit((), Changes(executions=[execution(name)], nodes=nodes))
    await log_world.log.commit((), Changes(executions=[execution("mid", ExecutionPhase.SUCCEEDED)]))
    await log_world.crash()
    both = (node("n0"), node("n1", NodePhase.RUNNING))
    assert await restored(log_world.log) == [Snapshot(execution("zeta"), both), Snapshot(execution("alpha"), both)]


async def test_the_last_committed_state_counts(log_world: LogWorld) -> None:
    log = log_world.log
    await log.commit((), Changes(executions=[execution("a")], nodes=[(named("a"), node("n0"))]))
    failing = execution("a", ExecutionPhase.FAILING)
    await log.commit((), Changes(executions=[failing], nodes=[(named("a"), node("n0", NodePhase.FAILED))]))
    assert await restored(log) == [Snapshot(failing, (node("n0", NodePhase.FAILED),))]


async def test_many_executions_come_without_gaps(log_world: LogWorld) -> None:
    names = [f"e{n}" for n in range(250)]
    changes = Changes(
        executions=[execution(name) for name in names],
        nodes=[(named(name), node(path)) for name in names[::2] for path in ("n0", "n1", "n2")],
    )
    await log_world.log.commit((), changes)
    snapshots = await restored(log_world.log)
    assert [snapshot.execution.id.name for snapshot in snapshots] == names
    assert [len(snapshot.nodes) for snapshot in snapshots] == [3, 0] * 125


async def test_an_empty_log_restores_nothing(log_world: LogWorld) -> None:
    assert await restored(log_world.log) == []
