"""Gates: behaviour reference 6.5, scenario 25 of its section 14, early and repeated signals of user case S06."""

from __future__ import annotations

import pytest

from engine.machine.signals import awaits
from engine.model.events import AbortRequested, SignalSet
from engine.model.graph import Program
from tests.programs import approve, gate, graph, node, program, task, wait_for_input
from tests.simulation import EXECUTION, Simulation, user_error


def _waiting(signal: str = "yes") -> Program:
    """n0 waits for a signal, n1 follows it."""
    work = task("work")
    nodes = [gate("n0", wait_for_input(signal), timeout=3600.0), node("n1", work.id, after=["n0"])]
    return program([graph("wf", nodes)], [work])


def _two_of_one_id() -> Program:
    """n1 becomes a gate only after n0 has run; n2 waits from the start; both for the same signal."""
    work = task("work")
    nodes = [node("n0", work.id), gate("n1", approve("go"), after=["n0"]), gate("n2", approve("go"))]
    return program([graph("wf", nodes)], [work])


def _signal(value: str, signal: str = "yes") -> SignalSet:
    return SignalSet(EXECUTION, signal, value)


def test_a_gate_runs_until_its_signal_comes() -> None:
    simulation = Simulation(_waiting()).run()
    assert simulation.phases() == {"n0": "RUNNING"}
    assert awaits(simulation.state, "n0") == wait_for_input("yes")

    simulation.apply(_signal("seven"))
    assert awaits(simulation.state, "n0") is None
    simulation.run()

    assert simulation.state.record.phase.value == "SUCCEEDED"
    assert simulation.nodes()["n0"].outputs_uri == "seven"
    assert simulation.phases() == {"n0": "SUCCEEDED", "n1": "SUCCEEDED"}


def test_an_early_signal_is_kept_and_the_gate_passes_the_moment_it_begins() -> None:
    simulation = Simulation(_two_of_one_id())
    simulation.apply(_signal("yes", "go"))
    assert "n1" not in simulation.phases()
    simulation.run()

    assert simulation.phases() == {"n0": "SUCCEEDED", "n1": "SUCCEEDED", "n2": "SUCCEEDED"}
    assert {simulation.nodes()[path].outputs_uri for path in ("n1", "n2")} == {"yes"}


def test_a_signal_may_be_changed_until_a_gate_has_begun_to_wait() -> None:
    work = task("work")
    later = program([graph("wf", [node("n0", work.id), gate("n1", approve("go"), after=["n0"])])], [work])
    simulation = Simulation(later)
    simulation.apply(_signal("first", "go"))
    simulation.apply(_signal("second", "go"))
    simulation.run()

    assert simulation.nodes()["n1"].outputs_uri == "second"


def test_another_answer_after_the_first_changes_nothing() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.apply(_signal("seven"))
    again = simulation.apply(_signal("seven"))
    other = simulation.apply(_signal("eight"))
    simulation.run()

    assert again is not None
    assert again.stale
    assert other is not None
    assert other.stale
    assert simulation.nodes()["n0"].outputs_uri == "seven"


def test_a_rejected_approval_is_the_users_error() -> None:
    simulation = Simulation(_two_of_one_id()).run()
    simulation.apply(_signal("no", "go"))
    simulation.run()

    error = simulation.state.record.error
    assert error is not None
    assert (error.code, error.kind.value) == ("ReceivedRejectSignal", "USER")
    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.nodes()["n1"].attempt == simulation.nodes()["n2"].attempt == 0


def test_a_value_of_another_type_is_refused_and_the_gate_goes_on_waiting() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.apply(_signal("bad text"))
    refused = simulation.deliver()

    assert refused is not None
    assert refused.refusal == "signal 'yes' of p:d:e1 was refused: its value is str, expected int"
    assert simulation.state.record.signals == {}
    assert simulation.phases() == {"n0": "RUNNING"}

    simulation.apply(_signal("seven"))
    simulation.run()
    assert simulation.nodes()["n0"].outputs_uri == "seven"
    assert simulation.state.record.phase.value == "SUCCEEDED"


def test_a_gate_whose_time_is_up_fails_and_a_signal_in_time_counts() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.ring()

    error = simulation.state.record.error
    assert error is not None
    assert (error.code, error.kind.value, error.node) == ("RetriesExhausted|TimeoutExpired", "USER", "n0")
    assert "waited for the signal 'yes' longer than its timeout of 3600 s" in error.message

    in_time = Simulation(_waiting()).run()
    in_time.apply(_signal("seven"))
    in_time.ring()
    in_time.run()
    assert in_time.state.record.phase.value == "SUCCEEDED"


def test_a_gate_whose_time_is_up_while_a_wrong_value_is_looked_at_fails() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.apply(_signal("bad"))
    simulation.ring()
    assert simulation.phases() == {"n0": "RUNNING"}
    simulation.run()

    assert simulation.phases() == {"n0": "FAILED"}
    assert simulation.state.record.phase.value == "FAILED"


def test_a_gate_waits_again_where_its_author_asked_for_retries() -> None:
    wf = program([graph("wf", [gate("n0", wait_for_input("yes"), timeout=10.0, retries=1)])])
    simulation = Simulation(wf).run()
    simulation.ring()
    assert simulation.nodes()["n0"].attempt == 1
    assert simulation.phases() == {"n0": "RUNNING"}
    simulation.apply(_signal("seven"))
    simulation.run()

    assert simulation.state.record.phase.value == "SUCCEEDED"
    assert [fact.phase for fact in simulation.facts if fact.path == "n0"] == [
        "RUNNING",
        "RETRYABLE_FAILURE",
        "QUEUED",
        "RUNNING",
        "SUCCEEDED",
    ]


@pytest.mark.parametrize("answered", [False, True])
def test_an_aborted_gate_leaves_nothing(answered: bool) -> None:
    simulation = Simulation(_waiting()).run()
    if answered:
        simulation.apply(_signal("seven"))
    simulation.apply(AbortRequested(EXECUTION, "enough"))
    simulation.run()

    assert simulation.phases() == {"n0": "ABORTED"}
    assert simulation.state.record.phase.value == "ABORTED"
    assert not simulation.nodes()["n0"].wake_at


def test_a_crash_while_a_signal_is_taken_takes_it_again() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.apply(_signal("seven"))
    simulation.resume()
    simulation.run()

    assert simulation.nodes()["n0"].outputs_uri == "seven"
    assert simulation.state.record.phase.value == "SUCCEEDED"


def test_a_gate_in_a_sub_workflow_is_answered_by_its_id() -> None:
    inner = graph("inner", [gate("n0", approve("go"))])
    outer = graph("wf", [node("n0", inner.id), node("n1", inner.id)])
    simulation = Simulation(program([outer, inner])).run()
    assert [path for path in simulation.state.live if awaits(simulation.state, path)] == ["n0/0/n0", "n1/0/n0"]
    simulation.apply(_signal("yes", "go"))
    simulation.run()

    assert simulation.state.record.phase.value == "SUCCEEDED"


def test_a_signal_of_another_id_or_after_the_end_changes_nothing() -> None:
    simulation = Simulation(_waiting()).run()
    simulation.apply(_signal("seven", "other"))
    assert simulation.phases() == {"n0": "RUNNING"}
    simulation.apply(_signal("seven"))
    simulation.run()
    late = simulation.apply(_signal("eight"))

    assert late is not None
    assert late.stale


def test_a_gate_in_a_clean_up_is_answered_while_the_clean_up_runs() -> None:
    work = task("work")
    asking = graph("asking", [gate("n0", approve("yes"))])
    whole = graph("wf", [node("n0", work.id)], failure=node("fn0", asking.id))
    simulation = Simulation(program([whole, asking], [work]), lambda key: user_error()).run()
    assert simulation.state.record.phase.value == "HANDLING_FAILURE_NODE"
    simulation.apply(_signal("true"))
    simulation.run()
    assert simulation.phases()["fn0/0/n0"] == "SUCCEEDED"
    assert simulation.state.record.phase.value == "FAILED"
