"""User case S07: any order and any repetition of events ends in the same state, and starts each attempt once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.errors import Failure
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey
from tests.programs import chain, graph, mapped, node, plan, program, task
from tests.simulation import Script, Simulation, recoverable, user_error


def _nested() -> Program:
    work, lp_task = task("work"), task("lp_task")
    inner = graph("inner", [node("n0", work.id), node("n1", work.id, after=["n0"])])
    child = graph("child", [node("n0", lp_task.id)])
    child_plan = plan("child_plan", child)
    many = mapped(work)
    outer = graph(
        "outer",
        [
            node("n0", inner.id),
            node("n1", many.id, array=ArraySpec(parallelism=2, min_success_ratio=1.0), retries=1),
            node("n2", child_plan.id, after=["n0"]),
            node("n3", work.id, after=["n1", "n2"], retries=2),
        ],
    )
    return program([outer, inner, child], [work, lp_task, many], [child_plan])


def _flaky(key: AttemptKey) -> Failure | None:
    """Element 2 and node n3 fail once, recoverably."""
    return recoverable() if key.attempt == 0 and (key.index == 2 or key.path == "n3") else None


def _end(simulation: Simulation) -> object:
    return (
        simulation.state.record.phase,
        simulation.phases(),
        simulation.element_phases("n1"),
        {path: node.attempt for path, node in simulation.nodes().items()},
        dict(simulation.started),
    )


@settings(max_examples=150, deadline=None)
@given(choices=st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=200))
def test_success_whatever_the_order(choices: list[tuple[int, bool]]) -> None:
    expected = Simulation(_nested(), _flaky, size=5).run()
    assert expected.state.record.phase.value == "SUCCEEDED"

    simulation = Simulation(_nested(), _flaky, size=5)
    for number, keep in choices:
        if simulation.waiting:
            simulation.deliver(number, keep=keep)
    simulation.run()

    assert _end(simulation) == _end(expected)
    assert set(simulation.started.values()) == {1}
    assert [fact.sequence for fact in simulation.facts if fact.execution.name == "e1"] == list(
        range(1, simulation.state.record.sequence + 1)
    )


@settings(max_examples=100, deadline=None)
@given(
    choices=st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=120),
    policy=st.sampled_from(FailurePolicy),
    crash=st.integers(0, 60),
)
def test_nothing_is_live_when_an_execution_has_failed(
    choices: list[tuple[int, bool]], policy: FailurePolicy, crash: int
) -> None:
    def fails(key: AttemptKey) -> Failure | None:
        return user_error() if key.path == "n1" and key.index is None else None

    work = task("work")
    inner = graph("inner", [node("n0", work.id), node("n1", work.id)])
    many = mapped(work)
    outer = graph(
        "wf",
        [
            node("n0", inner.id),
            node("n1", work.id),
            node("n2", many.id, array=ArraySpec()),
            node("n3", work.id, after=["n0", "n1"]),
        ],
        policy=policy,
    )
    simulation = Simulation(program([outer, inner], [work, many]), fails, size=3)
    for count, (number, keep) in enumerate(choices):
        if count == crash:
            simulation.resume()
        if simulation.waiting:
            simulation.deliver(number, keep=keep)
    simulation.run()

    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.state.record.error is not None
    assert simulation.state.record.error.node == "n1"
    assert not [path for path, node in simulation.nodes().items() if node.live]
    assert simulation.phases().get("n3") in (None, "SKIPPED")
    assert max(simulation.started.values()) == 1


@pytest.mark.parametrize("crash_after", range(0, 40, 3))
def test_a_crash_anywhere_loses_nothing(crash_after: int) -> None:
    simulation = Simulation(_nested(), _flaky, size=5)
    for _ in range(crash_after):
        if simulation.waiting:
            simulation.deliver()
    simulation.resume()
    simulation.run()

    assert simulation.state.record.phase.value == "SUCCEEDED"
    assert set(simulation.started.values()) == {1}


def test_late_events_of_an_ended_attempt_change_nothing() -> None:
    script: Script = lambda key: recoverable() if key.attempt == 0 else None  # noqa: E731
    simulation = Simulation(chain(1, retries=1), script)
    first = list(simulation.waiting)
    simulation.run()
    before = simulation.nodes()["n0"]
    for event in first:
        simulation.apply(event)

    assert simulation.nodes()["n0"] == before
    assert before.phase.name == "SUCCEEDED"
    assert before.attempt == 1
    assert simulation.stale >= len(first)
