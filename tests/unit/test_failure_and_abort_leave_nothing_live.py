"""Failure policies, aborts and child executions: user cases S21 and S35, behaviour reference 1.6 to 1.8."""

from __future__ import annotations

import pytest

from engine.machine.children import child_id
from engine.model.errors import Failure
from engine.model.events import AbortRequested, ExecutionSubmitted
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey
from tests.programs import graph, mapped, node, plan, program, task, workflow_id
from tests.simulation import EXECUTION, Simulation, user_error


def _policy(policy: FailurePolicy) -> Simulation:
    """n0 fails; n1 is independent and n2 follows it; n3 follows n0; n4 follows both n2 and n3."""
    work = task("work")
    nodes = [
        node("n0", work.id),
        node("n1", work.id),
        node("n2", work.id, after=["n1"]),
        node("n3", work.id, after=["n0"]),
        node("n4", work.id, after=["n2", "n3"]),
    ]
    wf = program([graph("wf", nodes, policy=policy)], [work])
    return Simulation(wf, lambda key: user_error(f"{key.path} boom") if key.path == "n0" else None).run()


def test_fail_immediately_aborts_the_rest() -> None:
    simulation = _policy(FailurePolicy.FAIL_IMMEDIATELY)

    assert simulation.phases()["n0"] == "FAILED"
    assert simulation.phases().get("n3") is None
    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.state.record.error == Failure("USER:RuntimeError", user_error().kind, "n0 boom", "n0")


def test_fail_after_executable_nodes_complete_runs_what_can_run() -> None:
    simulation = _policy(FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)

    assert simulation.phases() == {
        "n0": "FAILED",
        "n1": "SUCCEEDED",
        "n2": "SUCCEEDED",
        "n3": "SKIPPED",
        "n4": "SKIPPED",
    }
    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.state.record.error is not None
    assert simulation.state.record.error.node == "n0"


def test_a_sub_workflow_keeps_its_own_policy() -> None:
    work = task("work")
    inner = graph(
        "inner",
        [node("n0", work.id), node("n1", work.id), node("n2", work.id, after=["n1"])],
        policy=FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE,
    )
    outer = graph("outer", [node("n0", inner.id)])
    simulation = Simulation(
        program([outer, inner], [work]), lambda key: user_error() if key.path == "n0/0/n0" else None
    ).run()

    assert simulation.phases()["n0/0/n2"] == "SUCCEEDED"
    assert simulation.phases()["n0"] == "FAILED"
    error = simulation.state.record.error
    assert error is not None
    assert error.node == "n0/0/n0"


def _busy() -> Program:
    """A sub-workflow, a map, a launch plan and a task, all at work at once; node `bad` beside them."""
    work = task("work")
    inner = graph("inner", [node("n0", work.id), node("n1", work.id, after=["n0"])])
    child = graph("child", [node("n0", work.id)])
    many = mapped(work)
    nodes = [
        node("bad", work.id),
        node("lp", plan("plan", child).id),
        node("many", many.id, array=ArraySpec()),
        node("sub", inner.id),
    ]
    return program([graph("wf", nodes), inner, child], [work, many], [plan("plan", child)])


def _hang(key: AttemptKey) -> str | Failure | None:
    return "hang"


def test_one_failure_stops_tasks_maps_sub_workflows_and_children() -> None:
    simulation = Simulation(_busy(), lambda key: user_error() if key.path == "bad" else "hang", size=3).run()

    assert simulation.state.record.phase.value == "FAILED"
    assert simulation.phases() == {
        "bad": "FAILED",
        "lp": "ABORTED",
        "many": "ABORTED",
        "sub": "ABORTED",
        "sub/0/n0": "ABORTED",
    }
    child = child_id(AttemptKey(EXECUTION, "lp"))
    assert simulation.states[child].record.phase.value == "ABORTED"
    assert simulation.states[child].record.abort_cause == (
        "cascading abort from parent execution p:d:e1, node lp: Some node execution failed, auto-abort."
    )
    assert not simulation.alive


@pytest.mark.parametrize("delivered", range(16))
def test_an_abort_at_any_moment_ends_everything(delivered: int) -> None:
    simulation = Simulation(_busy(), _hang, size=3)
    for _ in range(delivered):
        if simulation.waiting:
            simulation.deliver()
    simulation.apply(AbortRequested(EXECUTION, "enough"))
    simulation.apply(AbortRequested(EXECUTION, "enough, really"))
    simulation.run()

    record = simulation.state.record
    assert (record.phase.value, record.abort_cause) == ("ABORTED", "enough")
    for state in simulation.states.values():
        assert state.record.terminal
        assert not state.live
    assert not simulation.alive


def test_a_node_that_succeeded_before_the_abort_stays_succeeded() -> None:
    work = task("work")
    wf = program([graph("wf", [node("n0", work.id), node("n1", work.id, after=["n0"])])], [work])
    simulation = Simulation(wf)
    simulation.deliver()
    simulation.deliver()
    assert simulation.phases() == {"n0": "SUCCEEDED", "n1": "QUEUED"}
    simulation.apply(AbortRequested(EXECUTION, "stop"))
    simulation.run()

    assert simulation.phases() == {"n0": "SUCCEEDED", "n1": "ABORTED"}
    assert simulation.state.record.phase.value == "ABORTED"


def _parent() -> Program:
    work = task("work")
    child = graph("child", [node("n0", work.id)])
    outer = graph("outer", [node("n0", plan("plan", child).id), node("n1", plan("plan", child).id)])
    return program([outer, child], [work], [plan("plan", child)])


def test_two_nodes_start_two_children_each_once() -> None:
    simulation = Simulation(_parent()).run()

    assert simulation.state.record.phase.value == "SUCCEEDED"
    assert len(simulation.states) == 3
    assert set(simulation.started.values()) == {1}
    names = [execution.name for execution in simulation.states if execution != EXECUTION]
    assert all(len(name) == 33 for name in names)


def test_a_childs_failure_names_the_child_its_node_and_its_message() -> None:
    first = child_id(AttemptKey(EXECUTION, "n0"))
    simulation = Simulation(_parent(), lambda key: user_error("child boom") if key.execution == first else "hang").run()
    error = simulation.state.record.error

    assert error is not None
    assert (error.code, error.kind.value, error.node) == ("USER:RuntimeError", "USER", "n0")
    assert error.message == f"child execution {first.name} failed at node n0: child boom"
    assert simulation.phases() == {"n0": "FAILED", "n1": "ABORTED"}


def test_an_aborted_child_fails_its_parents_node() -> None:
    first = child_id(AttemptKey(EXECUTION, "n0"))
    simulation = Simulation(_parent(), _hang)
    for _ in range(4):
        simulation.deliver()
    simulation.apply(AbortRequested(first, "by hand"))
    simulation.run()
    error = simulation.nodes()["n0"].error

    assert error is not None
    assert (error.code, error.kind.value) == ("RemoteChildWorkflowExecutionFailed", "USER")
    assert error.message == f"child execution {first.name} was aborted: by hand"


def test_the_same_submission_again_changes_nothing() -> None:
    simulation = Simulation(_parent()).run()
    before = simulation.state.record
    done = simulation.apply(ExecutionSubmitted(EXECUTION, workflow_id("outer"), "digest"))

    assert done is not None
    assert done.stale
    assert simulation.state.record == before
