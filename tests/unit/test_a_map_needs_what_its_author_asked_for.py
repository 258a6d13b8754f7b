"""How many elements must succeed, computed as flytekit's local execution does; user cases S12 and S13."""

from __future__ import annotations

import math
import struct

import pytest

from engine.machine import arrays
from engine.machine.draft import Rules
from engine.model.graph import ArraySpec
from engine.model.ids import AttemptKey
from engine.model.limits import ArrayLimits, RetryLimits
from engine.model.phases import NodePhase
from handlers.registry import default_handlers
from tests.programs import graph, mapped, node, program, task
from tests.simulation import Simulation, recoverable, user_error


def _float32(value: float) -> float:
    """As the message's float field holds it."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


@pytest.mark.parametrize("size", [10, 100, 25, 7])
@pytest.mark.parametrize("ratio", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.28, 0.333, 1.0])
def test_a_ratio_counts_as_the_decimal_that_was_written(ratio: float, size: int) -> None:
    assert arrays.needed(size, ArraySpec(min_success_ratio=_float32(ratio))) == math.ceil(size * ratio)


def test_six_tenths_of_ten_is_six() -> None:
    assert arrays.needed(10, ArraySpec(min_success_ratio=_float32(0.6))) == 6


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ArraySpec(), 10),
        (ArraySpec(min_successes=3), 3),
        (ArraySpec(min_successes=0, min_success_ratio=0.5), 5),
        (ArraySpec(min_success_ratio=0.0), 10),
    ],
)
def test_a_number_wins_over_a_ratio_and_nothing_means_all(spec: ArraySpec, expected: int) -> None:
    assert arrays.needed(10, spec) == expected


def _map(size: int, spec: ArraySpec, failing: set[int], *, in_flight: int = 1000) -> Simulation:
    many = mapped(task("t"))
    rules = Rules(default_handlers(), RetryLimits(), ArrayLimits(in_flight))
    wf = program([graph("wf", [node("n0", many.id, array=spec)])], [many])

    def script(key: AttemptKey) -> object:
        return user_error(f"boom {key.index}") if key.index in failing else None

    return Simulation(wf, script, size=size, rules=rules)  # type: ignore[arg-type]


def test_tolerated_failures_leave_the_map_succeeded_after_all_elements() -> None:
    simulation = _map(10, ArraySpec(min_success_ratio=0.5), {3, 4, 8, 9}).run()

    assert simulation.phases() == {"n0": "SUCCEEDED"}
    assert [k for k, phase in enumerate(simulation.element_phases("n0")) if phase == "FAILED"] == [3, 4, 8, 9]
    assert sum(simulation.started.values()) == 10


def test_a_failure_names_the_elements_their_count_and_the_first_error() -> None:
    simulation = _map(10, ArraySpec(min_success_ratio=0.8), {3, 4, 8}, in_flight=1).run()
    error = simulation.nodes()["n0"].error

    assert error is not None
    assert error.code == "USER:RuntimeError"
    assert error.kind.value == "USER"
    assert error.node == "n0"
    assert error.message == ("3 elements of 10 failed: [3-4,8]; 8 must succeed. First error, at n0[3]: boom 3")
    assert simulation.element_phases("n0")[9] == "NOT_YET_STARTED"


def test_when_it_can_t_succeed_any_more_the_rest_is_stopped() -> None:
    many = mapped(task("t"))
    wf = program([graph("wf", [node("n0", many.id, array=ArraySpec())])], [many])
    simulation = Simulation(wf, lambda key: user_error("boom") if key.index == 1 else "hang", size=4).run()

    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.element_phases("n0") == ["ABORTED", "FAILED", "ABORTED", "ABORTED"]
    assert {key.index for key in simulation.stopped} == {0, 2, 3}


@pytest.mark.parametrize("spec", [ArraySpec(), ArraySpec(min_success_ratio=0.5)])
def test_an_empty_map_succeeds_without_a_launch(spec: ArraySpec) -> None:
    simulation = _map(0, spec, set()).run()

    assert simulation.phases() == {"n0": "SUCCEEDED"}
    assert not simulation.started


def test_a_number_that_can_t_be_reached_fails_at_once() -> None:
    simulation = _map(3, ArraySpec(min_successes=5), set()).run()
    error = simulation.nodes()["n0"].error

    assert not simulation.started
    assert error is not None
    assert (error.code, error.kind.value) == ("ArrayNodeFailing", "USER")
    assert error.message == "5 of 3 elements must succeed, which 3 elements can't do"


def test_the_window_starts_first_elements_first_and_is_never_exceeded() -> None:
    simulation = _map(6, ArraySpec(parallelism=2), set())
    simulation.deliver()
    assert sorted(key.index or 0 for key in simulation.started) == [0, 1]
    simulation.run()

    assert simulation.most_alive == 2
    assert simulation.phases() == {"n0": "SUCCEEDED"}


def test_a_retried_element_keeps_its_place_in_the_window() -> None:
    many = mapped(task("t"))
    wf = program([graph("wf", [node("n0", many.id, retries=3, array=ArraySpec(parallelism=1))])], [many])
    simulation = Simulation(wf, lambda key: recoverable() if key.attempt < 2 else None, size=3).run()

    assert simulation.most_alive == 1
    assert simulation.phases() == {"n0": "SUCCEEDED"}
    assert [(key.index, key.attempt) for key in simulation.started] == [(k, a) for k in range(3) for a in range(3)]


def test_ten_thousand_elements_cost_two_bytes_each() -> None:
    elements = arrays.created(10_000)

    assert sum(len(chunk) for chunk in elements.chunks) == 20_000
    changed = arrays.with_element(elements, 9_999, NodePhase.RUNNING, 7, 2)
    assert (arrays.phase_of(changed, 9_999).name, arrays.attempt_of(changed, 9_999)) == ("RUNNING", 7)
    assert arrays.system_failures_of(changed, 9_999) == 2
    assert arrays.phase_of(changed, 9_998).name == "NOT_YET_STARTED"
    assert changed.live == 1


def test_spans_read_as_people_write_them_and_stay_bounded() -> None:
    assert arrays.spans(iter([0, 1, 2, 5])) == "[0-2,5]"
    text = arrays.spans(iter(range(0, 20_000, 2)))
    assert text.endswith("and 9900 more")
    assert len(text) < 1000
