"""Behaviour reference section 2 and user cases S02 and S03: who is tried again, how often, and what the error says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.model.errors import Failure
from engine.model.graph import ArraySpec
from engine.model.ids import AttemptKey
from tests.programs import chain, graph, mapped, node, program, task
from tests.simulation import Simulation, lost, recoverable, user_error


def _script(outcomes: Sequence[Failure | None]) -> Simulation:
    def script(key: AttemptKey) -> Failure | None:
        return outcomes[min(key.attempt, len(outcomes) - 1)]

    return Simulation(chain(1, retries=2), script).run()


@pytest.mark.parametrize(
    ("outcomes", "launches", "phase", "code"),
    [
        pytest.param([user_error()], 1, "FAILED", "USER:RuntimeError", id="a plain exception is final"),
        pytest.param([recoverable()], 3, "FAILED", "RetriesExhausted|USER:Recoverable", id="retries + 1 attempts"),
        pytest.param([recoverable(), None], 2, "SUCCEEDED", None, id="recovers"),
        pytest.param([lost()], 4, "FAILED", "RetriesExhausted|ResourceDeletedExternally", id="three system retries"),
        pytest.param([lost(), lost(), lost(), None], 4, "SUCCEEDED", None, id="system failures are free"),
        pytest.param(
            [lost(), recoverable(), lost(), recoverable(), recoverable()],
            5,
            "FAILED",
            "RetriesExhausted|USER:Recoverable",
            id="system failures never eat the author's retries",
        ),
    ],
)
def test_launches_and_end(outcomes: list[Failure | None], launches: int, phase: str, code: str | None) -> None:
    simulation = _script(outcomes)

    assert sum(simulation.started.values()) == launches
    assert simulation.phases() == {"n0": phase}
    error = simulation.nodes()["n0"].error
    assert (error.code if error else None) == code


def test_an_exhausted_budget_keeps_the_kind_and_tells_the_last_error() -> None:
    error = _script([lost("pod gone")]).nodes()["n0"].error

    assert error is not None
    assert error.kind.value == "SYSTEM"
    assert error.message == "[4/4] attempts done. Last error: SYSTEM::pod gone"
    assert error.node == "n0"


def test_facts_show_every_attempt_in_order() -> None:
    simulation = _script([recoverable(), None])

    assert [(fact.phase, fact.attempt) for fact in simulation.facts if fact.path == "n0"] == [
        ("QUEUED", 0),
        ("RUNNING", 0),
        ("RETRYABLE_FAILURE", 0),
        ("QUEUED", 1),
        ("RUNNING", 1),
        ("SUCCEEDED", 1),
    ]


@pytest.mark.parametrize(("fails", "launches", "phase"), [(2, 7, "SUCCEEDED"), (99, 7, "FAILED")])
def test_the_budget_of_a_map_belongs_to_each_element(fails: int, launches: int, phase: str) -> None:
    many = mapped(task("flaky"))
    wf = graph("wf", [node("n0", many.id, retries=2, array=ArraySpec())])
    simulation = Simulation(
        program([wf], [many]),
        lambda key: recoverable() if key.index == 2 and key.attempt < fails else None,
        size=5,
    ).run()

    assert sum(simulation.started.values()) == launches
    assert simulation.phases() == {"n0": phase}
    assert {key.index: count for key, count in simulation.started.items() if key.index != 2} == {
        0: 1,
        1: 1,
        3: 1,
        4: 1,
    }
