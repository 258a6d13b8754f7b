from __future__ import annotations

import pytest
from msgspec import structs

from engine.adapters.kubernetes.keeping import removable
from engine.adapters.kubernetes.options import PodOptions
from engine.machine.wanted import wanted
from engine.model.graph import ArraySpec
from engine.model.ids import AttemptKey
from tests.podworld import NOON_SECONDS, RUNNING, Json, pod, terminated
from tests.programs import chain, graph, mapped, node, program, task
from tests.simulation import EXECUTION, Simulation, recoverable

OPTIONS = PodOptions(keep_failed_seconds=3600.0, keep_succeeded_seconds=60.0)
ENDED = NOON_SECONDS + 9


@pytest.mark.parametrize(
    ("phase", "state", "kept_seconds"),
    [("Succeeded", terminated(0), 60), ("Failed", terminated(1), 3600)],
)
def test_a_pod_that_has_ended_is_kept_for_its_time(phase: str, state: Json, kept_seconds: float) -> None:
    found = pod(phase, state)
    assert not removable(found, ENDED + kept_seconds - 1, OPTIONS)
    assert removable(found, ENDED + kept_seconds, OPTIONS)


def test_a_pod_that_still_runs_goes_at_once() -> None:
    assert removable(pod("Running", RUNNING), NOON_SECONDS, OPTIONS)


def test_one_that_is_going_is_left_alone() -> None:
    assert not removable(pod("Running", RUNNING, deleted=True), NOON_SECONDS + 1e6, OPTIONS)


def key(path: str, attempt: int = 0, index: int | None = None) -> AttemptKey:
    return AttemptKey(EXECUTION, path, attempt, index)


def test_an_execution_wants_the_live_attempts_of_its_nodes() -> None:
    simulation = Simulation(chain(2, retries=1), lambda key: recoverable() if key.attempt == 0 else "hang")
    state = simulation.state
    assert wanted(state, key("n0"))
    assert not wanted(state, key("n1"))
    assert not wanted(state, structs.replace(key("n0"), run="another"))
    simulation.run()
    assert not wanted(simulation.state, key("n0"))
    assert wanted(simulation.state, key("n0", 1))


def test_an_execution_wants_the_live_elements_of_its_maps() -> None:
    many = mapped(task("work"))
    wf = program([graph("wf", [node("n0", many.id, array=ArraySpec(parallelism=2))])], [many])
    simulation = Simulation(wf, lambda key: None if key.index == 0 else "hang", size=4)
    simulation.run()
    found = [wanted(simulation.state, key("n0", 0, index)) for index in range(5)]
    assert found == [False, True, True, False, False]
