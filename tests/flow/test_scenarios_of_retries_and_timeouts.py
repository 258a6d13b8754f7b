"""Scenarios 1 to 6 and 11 of the behaviour reference: attempts, their budgets and their clocks."""

from __future__ import annotations

import itertools

import pytest
from msgspec import structs

from engine.adapters.memory.scripts import by_attempt, copies, ends, hangs, raises, takes
from engine.model.errors import ErrorKind, Failure
from engine.model.graph import ArraySpec
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from engine.wire.natural import natural_map
from tests.flow.engines import World
from tests.flow.scenarios import WORK, ended, flow, lone, run
from tests.flow.test_a_workflow_runs_to_its_end import ints
from tests.programs import INT, chain, graph, interface, list_of, mapped, node, program, promise

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

LOST, OOM = ends(Exit(ExitReason.LOST)), ends(Exit(ExitReason.OOM_KILLED))


async def test_1_a_chain() -> None:
    found = await run(chain(3))
    assert found.told() == [
        "RUNNING",
        "start-node SUCCEEDED",
        *(f"n{k} {phase}" for k in range(3) for phase in ("QUEUED", "RUNNING", "SUCCEEDED")),
        "end-node QUEUED",
        "end-node SUCCEEDED",
        "SUCCEEDED",
    ]
    assert natural_map(await found.world.blobs.get(found.execution.outputs_uri)) == {"o0": 1}


async def test_2_a_plain_exception_is_not_tried_again() -> None:
    found = await run(flow(lone("n0", retries=3)), lambda blobs: {"n0": raises(blobs, "ValueError: no")})
    assert found.launches == [("n0", 0)]
    assert found.error == Failure("USER:RuntimeError", ErrorKind.USER, "ValueError: no", "n0")
    assert found.told("n0", "") == ["RUNNING", "n0 QUEUED", "n0 RUNNING", "n0 FAILED", "FAILING", "FAILED"]


async def test_3_a_recoverable_one_is_as_often_as_the_author_asked() -> None:
    """The retries are made at once, as in Flyte."""
    found = await run(flow(lone("n0", retries=2)), lambda blobs: {"n0": raises(blobs, "again", recoverable=True)})
    assert found.launches == [("n0", 0), ("n0", 1), ("n0", 2)]
    assert found.error == Failure(
        "RetriesExhausted|USER:Recoverable",
        ErrorKind.USER,
        "[3/3] attempts done. Last error: USER::again",
        "n0",
    )
    again = ["n0 RUNNING", "n0 RETRYABLE_FAILURE", "n0 QUEUED"]
    assert found.told("n0") == ["n0 QUEUED", *again, *again, "n0 RUNNING", "n0 FAILED"]
    assert found.at("n0", "QUEUED") == [0, 0, 0]


async def test_4_a_task_that_is_taken_away_three_times_and_then_let_be() -> None:
    """Here: at once, then after a second, then after two (with their jitter). Flyte does not wait."""
    found = await run(flow(lone("n0")), lambda blobs: {"n0": by_attempt(LOST, LOST, LOST, copies(blobs))})
    assert found.execution.phase.value == "SUCCEEDED"
    assert found.launches == [("n0", k) for k in range(4)]
    queued = [fact.at for fact in found.facts if fact.phase == "QUEUED" and fact.path == "n0"]
    first, second, third = (after - before for before, after in itertools.pairwise(queued))
    assert first < 0.1
    assert 0.8 <= second < 1.3
    assert 1.6 <= third < 2.5


async def test_4_a_task_that_is_taken_away_each_time() -> None:
    """The kind stays SYSTEM here."""
    found = await run(flow(lone("n0")), lambda blobs: {"n0": LOST})
    assert len(found.launches) == 4
    assert (found.error.code, found.error.kind.value) == ("RetriesExhausted|ResourceDeletedExternally", "SYSTEM")
    assert found.error.message.startswith("[4/4] attempts done. Last error: SYSTEM::the task is gone")


def _spots(world: World) -> list[tuple[int, bool]]:
    """Keeps what the runner was asked for: attempt, and whether it may be taken away."""
    seen: list[tuple[int, bool]] = []
    script = world.runner.script

    def watched(request: TaskRequest) -> object:
        seen.append((request.key.attempt, request.interruptible))
        return script(request)

    world.runner.script = watched  # type: ignore[assignment]
    return seen


async def test_5_after_three_preemptions_the_last_attempt_is_on_regular_capacity() -> None:
    world = World(flow(structs.replace(lone("n0"), interruptible=True)))
    world.runner.script = by_attempt(LOST, LOST, LOST, copies(world.blobs))
    seen = _spots(world)
    found = await ended(world, await world.run())
    assert found.execution.phase.value == "SUCCEEDED"
    assert seen == [(0, True), (1, True), (2, True), (3, False)]


async def test_6_out_of_memory_is_the_authors_and_keeps_the_capacity() -> None:
    world = World(flow(structs.replace(lone("n0", retries=1), interruptible=True)))
    world.runner.script = OOM
    seen = _spots(world)
    found = await ended(world, await world.run())
    assert seen == [(0, True), (1, True)]
    assert (found.error.code, found.error.kind.value) == ("RetriesExhausted|OOMKilled", "USER")


async def test_11_a_timeout_counts_for_each_attempt_from_its_start() -> None:
    """Flyte ends the node at twice the timeout, whatever its retries; here every attempt has the whole of it."""
    found = await run(flow(lone("n0", retries=5, timeout=60.0)), lambda blobs: {"n0": hangs})
    assert found.launches == [("n0", k) for k in range(6)]
    assert found.at("n0", "RUNNING") == [0, 60, 120, 180, 240, 300]
    assert found.at("n0", "FAILED") == [360]
    assert (found.error.code, found.error.kind.value) == ("RetriesExhausted|TimeoutExpired", "USER")


async def test_11_and_so_it_does_for_the_elements_of_a_map() -> None:
    many = mapped(WORK)
    spec = node(
        "n0", many.id, array=ArraySpec(parallelism=1), retries=1, timeout=60.0, bindings=[promise("a", "", "xs")]
    )
    face = interface({"xs": list_of(INT)}, {"o0": list_of(INT)})
    whole = program([graph("wf", [spec], outputs=[promise("o0", "n0")], face=face)], [WORK, many])
    found = await run(whole, lambda blobs: {"n0[1]": by_attempt(hangs, takes(50.0, copies(blobs)))}, ints(xs=[7, 8, 9]))
    assert found.execution.phase.value == "SUCCEEDED"
    assert natural_map(await found.world.blobs.get(found.execution.outputs_uri)) == {"o0": [7, 8, 9]}
    ends = [(fact.index, fact.phase, fact.attempt) for fact in found.facts if fact.index == 1]
    assert ends == [
        (1, "QUEUED", 0),
        (1, "RUNNING", 0),
        (1, "RETRYABLE_FAILURE", 0),
        (1, "QUEUED", 1),
        (1, "RUNNING", 1),
        (1, "SUCCEEDED", 1),
    ]
    assert found.at("", "SUCCEEDED") == [110]


async def test_11_the_timeout_of_a_whole_sub_workflow() -> None:
    inner = graph("inner", [lone("n0"), lone("n1", "n0")])
    main = graph("wf", [node("n0", inner.id, timeout=60.0, retries=1)])
    found = await run(
        program([main, inner], [WORK]),
        lambda blobs: {"n0/0/n0": takes(40.0, copies(blobs)), "n0/0/n1": takes(40.0, copies(blobs))},
    )
    assert found.execution.phase.value == "SUCCEEDED"
    assert found.at("n0", "RETRYABLE_FAILURE") == [60]
    assert found.told("n0/0/n1") == ["n0/0/n1 QUEUED", "n0/0/n1 RUNNING", "n0/0/n1 ABORTING", "n0/0/n1 ABORTED"]
    assert found.launches == [("n0/0/n0", 0), ("n0/0/n1", 0), ("n0/1/n0", 0), ("n0/1/n1", 0)]
