"""Retries and timeouts of launch plan nodes, and of maps over launch plans: one child after the other."""

from __future__ import annotations

import pytest

from engine.machine.children import child_id
from engine.model.events import AbortRequested
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey
from tests.programs import graph, node, plan, program, task
from tests.simulation import EXECUTION, Simulation, lost, user_error

WORK = task("work")


def history(world: Simulation) -> list[str]:
    return [fact.phase for fact in world.facts if fact.path == "lp"]


CHILD = graph("child", [node("n0", WORK.id)])
PLAN = plan("plan", CHILD)


def launching(retries: int, timeout: float | None = None) -> Program:
    return program([graph("wf", [node("lp", PLAN.id, retries=retries, timeout=timeout)]), CHILD], [WORK], [PLAN])


def first_children(count: int) -> set[object]:
    return {child_id(AttemptKey(EXECUTION, "lp", attempt)) for attempt in range(count)}


def test_a_launch_plan_starts_another_child() -> None:
    failing = first_children(1)
    world = Simulation(launching(1), lambda key: user_error() if key.execution in failing else None).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert set(world.states) - {EXECUTION} == first_children(2)
    assert history(world) == [
        "QUEUED",
        "RUNNING",
        "RETRYABLE_FAILURE",
        "QUEUED",
        "RUNNING",
        "SUCCEEDED",
    ]


def test_a_launch_plan_that_fails_each_time() -> None:
    world = Simulation(launching(1), lambda key: user_error("no")).run()
    error = world.state.record.error
    assert error is not None
    assert (error.code, error.node) == ("RetriesExhausted|USER:RuntimeError", "lp")
    last = child_id(AttemptKey(EXECUTION, "lp", 1))
    assert error.message == (
        f"[2/2] attempts done. Last error: USER::child execution {last.name} failed at node n0: no"
    )


def test_a_child_that_somebody_stopped_is_not_started_again() -> None:
    world = Simulation(launching(3), lambda key: "hang")
    while world.waiting:
        world.deliver()
    world.apply(AbortRequested(child_id(AttemptKey(EXECUTION, "lp")), "by hand"))
    world.run()
    error = world.state.record.error
    assert error is not None
    assert error.code == "RemoteChildWorkflowExecutionFailed"
    assert len(world.states) == 2


def test_the_timeout_of_a_launch_plan_stops_the_child_first() -> None:
    hanging = first_children(1)
    world = Simulation(launching(1, timeout=30.0), lambda key: "hang" if key.execution in hanging else None).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    first = world.states[child_id(AttemptKey(EXECUTION, "lp"))]
    assert first.record.phase.value == "ABORTED"
    assert first.record.abort_cause == (
        "cascading abort from parent execution p:d:e1, node lp: launch plan execution timeout [30 s] expired"
    )
    spent = Simulation(launching(0, timeout=30.0), lambda key: "hang").run()
    assert spent.state.record.error is not None
    assert spent.state.record.error.code == "RetriesExhausted|TimeoutExpired"
    assert all(state.record.terminal for state in spent.states.values())


@pytest.mark.parametrize("steps", range(16))
@pytest.mark.parametrize("crash", [True, False])
def test_an_abort_or_a_crash_at_any_moment_of_a_launch_plans_timeout(steps: int, crash: bool) -> None:
    world = Simulation(launching(1, timeout=30.0), lambda key: "hang" if key.attempt == 0 else None)
    for _ in range(steps):
        if world.waiting or world.tick():
            world.deliver()
    if crash:
        world.resume()
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert all(state.record.terminal for state in world.states.values())
    assert not any(state.live for state in world.states.values())
    assert not world.alive


def test_elements_that_are_executions_are_tried_again_as_a_whole() -> None:
    array = node("lp", PLAN.id, retries=1, array=ArraySpec())
    whole = program([graph("wf", [array]), CHILD], [WORK], [PLAN])
    first = child_id(AttemptKey(EXECUTION, "lp", 0, 1, 0))
    world = Simulation(whole, lambda key: lost() if key.execution == first else None, size=3).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert len(world.states) == 5
