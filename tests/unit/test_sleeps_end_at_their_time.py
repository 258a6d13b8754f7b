"""Sleeps: scenario 25. The hour that flytekit writes on every sleep as its timeout does not cut it."""

from __future__ import annotations

import pytest

from engine.model.events import TimerFired
from engine.model.graph import Program
from tests.programs import gate, graph, program, sleep
from tests.simulation import Simulation


def _sleeping(seconds: float, timeout: float | None = 3600.0) -> Program:
    return program([graph("wf", [gate("n0", sleep(seconds), timeout=timeout)])])


def test_a_sleep_asks_for_its_end_and_ends_there() -> None:
    simulation = Simulation(_sleeping(2.0)).run()
    node = simulation.nodes()["n0"]
    assert node.wake_at == node.started_at + 2.0
    simulation.ring()

    assert simulation.phases() == {"n0": "SUCCEEDED"}
    assert simulation.state.record.phase.value == "SUCCEEDED"


@pytest.mark.parametrize("seconds", [0.0, -5.0])
def test_a_sleep_of_no_length_is_over_at_once(seconds: float) -> None:
    simulation = Simulation(_sleeping(seconds)).run()

    assert simulation.state.record.phase.value == "SUCCEEDED"
    assert [fact.phase for fact in simulation.facts if fact.path == "n0"] == ["RUNNING", "SUCCEEDED"]


@pytest.mark.parametrize("timeout", [None, 3600.0])
def test_a_sleep_longer_than_flytekits_own_timeout_is_slept(timeout: float | None) -> None:
    simulation = Simulation(_sleeping(7200.0, timeout)).run()
    assert simulation.nodes()["n0"].wake_at == simulation.nodes()["n0"].started_at + 7200.0
    simulation.ring()

    assert simulation.state.record.phase.value == "SUCCEEDED"


def test_a_timeout_that_the_author_gave_cuts_a_sleep() -> None:
    simulation = Simulation(_sleeping(7200.0, 60.0)).run()
    assert simulation.nodes()["n0"].wake_at == simulation.nodes()["n0"].started_at + 60.0
    simulation.ring()

    error = simulation.state.record.error
    assert error is not None
    assert error.code == "RetriesExhausted|TimeoutExpired"
    assert "slept longer than its timeout of 60 s" in error.message


def test_a_clock_that_is_set_back_loses_no_timer() -> None:
    simulation = Simulation(_sleeping(100.0)).run()
    simulation.now = simulation.nodes()["n0"].started_at + 40.0
    simulation.apply(TimerFired(simulation.state.record.key("n0", 0), simulation.nodes()["n0"].wake_at))

    assert simulation.phases() == {"n0": "SUCCEEDED"}


def test_a_timer_of_another_time_changes_nothing() -> None:
    simulation = Simulation(_sleeping(100.0)).run()
    key = simulation.state.record.key("n0", 0)
    early = simulation.apply(TimerFired(key, simulation.nodes()["n0"].wake_at - 50.0))

    assert early is not None
    assert early.stale
    assert simulation.phases() == {"n0": "RUNNING"}
