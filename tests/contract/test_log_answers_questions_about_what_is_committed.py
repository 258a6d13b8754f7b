from __future__ import annotations

from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution, Snapshot
from engine.ports.eventlog import Changes, DeadLetter
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import WORKFLOW, execution, fact, named, node


async def test_find_gives_those_that_are_stored_finished_or_not(log_world: LogWorld) -> None:
    done = execution("b", ExecutionPhase.SUCCEEDED)
    await log_world.log.commit((), Changes(executions=[execution("a"), done]))
    found = await log_world.log.find([named("b"), named("nobody"), named("a")])
    assert found == {named("a"): execution("a"), named("b"): done}
    assert await log_world.log.find([]) == {}


async def test_executions_come_in_the_order_of_their_submission(log_world: LogWorld) -> None:
    await log_world.log.commit((), Changes(executions=[execution("z"), execution("m")]))
    await log_world.log.commit((), Changes(executions=[execution("a")]))
    done = execution("z", ExecutionPhase.FAILED)
    await log_world.log.commit((), Changes(executions=[done]))
    assert await log_world.log.executions() == [done, execution("m"), execution("a")]


async def test_a_snapshot_has_the_nodes_of_its_execution_only(log_world: LogWorld) -> None:
    nodes = [(named("a"), node("n1")), (named("b"), node("n0")), (named("a"), node("n0"))]
    await log_world.log.commit((), Changes(executions=[execution("a"), execution("b")], nodes=nodes))
    assert await log_world.log.snapshot(named("a")) == Snapshot(execution("a"), (node("n0"), node("n1")))
    assert await log_world.log.snapshot(named("nobody")) is None


async def test_history_gives_facts_above_a_sequence_number_in_order(log_world: LogWorld) -> None:
    await log_world.log.commit((), Changes(facts=[fact("a", 1), fact("b", 1), fact("a", 2)]))
    await log_world.log.commit((), Changes(facts=[fact("a", number) for number in range(3, 12)]))
    assert [it.sequence for it in await log_world.log.history(named("a"))] == list(range(1, 12))
    assert await log_world.log.history(named("a"), after=9) == [fact("a", 10), fact("a", 11)]
    assert await log_world.log.history(named("a"), after=3, limit=2) == [fact("a", 4), fact("a", 5)]
    assert await log_world.log.history(named("b"), after=1) == []


async def test_dead_letters_keep_bytes_reason_and_execution(log_world: LogWorld) -> None:
    letters = [DeadLetter(4, b"\xff\x00", "no map"), DeadLetter(5, b"", "raised \udc80", named("a"))]
    await log_world.log.commit((), Changes(dead_letters=letters[:1]))
    await log_world.log.commit((), Changes(dead_letters=letters[1:]))
    assert await log_world.log.dead_letters() == letters


async def test_ids_that_look_alike_are_different_executions(log_world: LogWorld) -> None:
    ids = [
        ExecutionId("a:b", "c", "n"),
        ExecutionId("a", "b:c", "n"),
        ExecutionId("a%3Ab", "c", "n"),
        ExecutionId("ä", "\udc80", ""),
        ExecutionId("", "", ""),
    ]
    changes = Changes(
        executions=[Execution(it, WORKFLOW, WORKFLOW, str(n)) for n, it in enumerate(ids)],
        nodes=[(it, node(f"n{n}")) for n, it in enumerate(ids)],
    )
    await log_world.log.commit((), changes)
    for n, it in enumerate(ids):
        snapshot = await log_world.log.snapshot(it)
        assert snapshot is not None
        assert (snapshot.execution.package, [node.path for node in snapshot.nodes]) == (str(n), [f"n{n}"])
    assert set(await log_world.log.find(ids)) == set(ids)
