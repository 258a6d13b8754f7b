"""`run_all_sub_nodes`: elements go on being started when the map can't succeed any more; then it fails."""

from __future__ import annotations

from engine.model.errors import Failure
from engine.model.graph import ArraySpec
from engine.model.ids import AttemptKey
from tests.programs import graph, mapped, node, program, task
from tests.simulation import Simulation, user_error

WORK = mapped(task("work"))


def mapping(*, run_all: bool) -> Simulation:
    """Five elements, one at a time; the first and the third raise."""
    array = ArraySpec(parallelism=1, run_all=run_all)
    flow = program([graph("wf", [node("n0", WORK.id, array=array)])], [WORK])

    def script(key: AttemptKey) -> Failure | None:
        return user_error() if key.index in (0, 2) else None

    return Simulation(flow, script, size=5).run()


def test_all_are_run_and_the_error_counts_all_that_failed() -> None:
    done = mapping(run_all=True)
    assert done.element_phases("n0") == ["FAILED", "SUCCEEDED", "FAILED", "SUCCEEDED", "SUCCEEDED"]
    assert done.phases() == {"n0": "FAILED"}
    error = done.state.record.error
    assert error is not None
    assert error.message == "2 elements of 5 failed: [0,2]; 5 must succeed. First error, at n0[0]: boom"


def test_else_the_first_failure_ends_the_map() -> None:
    done = mapping(run_all=False)
    assert done.element_phases("n0") == ["FAILED"] + ["NOT_YET_STARTED"] * 4
    assert sum(done.started.values()) == 1
