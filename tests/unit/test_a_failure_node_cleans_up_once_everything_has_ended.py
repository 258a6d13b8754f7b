"""Failure nodes: when they run, what they are told, what their end means: behaviour reference 1.7, user case S23."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.model.effects import ResolveInputs, RunTask, StartChild
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AbortRequested
from engine.model.graph import FailurePolicy, NodeSpec, Program
from engine.model.ids import AttemptKey
from tests.programs import constant, graph, node, plan, program, promise, task
from tests.simulation import EXECUTION, Script, Simulation, recoverable, user_error

WORK, CLEAN = task("work"), task("clean")
ERR = [promise("x", "start-node", "x"), constant("err", 0)]


def cleans(**more: object) -> NodeSpec:
    return structs.replace(node("fn0", CLEAN.id, bindings=ERR), **more)


def flow(
    *nodes: NodeSpec, failure: NodeSpec | None = None, policy: FailurePolicy = FailurePolicy.FAIL_IMMEDIATELY
) -> Program:
    return program([graph("wf", nodes, failure=failure or cleans(), policy=policy)], [WORK, CLEAN])


def fails(*paths: str, hangs: tuple[str, ...] = ()) -> Script:
    return lambda key: user_error(f"{key.path} nope") if key.path in paths else "hang" if key.path in hangs else None


def execution_facts(world: Simulation) -> list[str]:
    return [fact.phase for fact in world.facts if not fact.path]


def told(world: Simulation, path: str) -> Failure | None:
    """What the node was told, by the effect that it asked for first."""
    effect = next(effect for effect in world.effects if effect.key.path == path)
    assert isinstance(effect, RunTask | ResolveInputs | StartChild)
    bindings = effect.spec.bindings if isinstance(effect, RunTask) else effect.bindings
    (err,) = [binding for binding in bindings if binding.variable == "err"]
    assert all(binding.failure is None for binding in bindings if binding is not err)
    return err.failure


def test_it_runs_once_after_everything_has_ended_and_is_told_the_failing_node() -> None:
    world = Simulation(flow(node("n0", WORK.id), node("n1", WORK.id)), fails("n0", hangs=("n1",))).run()
    assert execution_facts(world) == ["RUNNING", "FAILING", "HANDLING_FAILURE_NODE", "FAILED"]
    assert world.phases() == {"fn0": "SUCCEEDED", "n0": "FAILED", "n1": "ABORTED"}
    assert world.started[AttemptKey(EXECUTION, "fn0")] == 1
    assert told(world, "fn0") == user_error("n0 nope").at("n0")
    assert world.state.record.error == user_error("n0 nope").at("n0")
    order = [(fact.path, fact.phase) for fact in world.facts if fact.path in ("n1", "fn0")]
    assert order.index(("fn0", "QUEUED")) > order.index(("n1", "ABORTED"))


def test_it_does_not_run_when_nothing_fails() -> None:
    world = Simulation(flow(node("n0", WORK.id))).run()
    assert world.phases() == {"n0": "SUCCEEDED"}
    assert execution_facts(world) == ["RUNNING", "SUCCEEDED"]


def test_it_may_take_nothing_of_the_failure() -> None:
    world = Simulation(flow(node("n0", WORK.id), failure=node("fn0", CLEAN.id)), fails("n0")).run()
    assert world.phases() == {"fn0": "SUCCEEDED", "n0": "FAILED"}


def test_with_the_patient_policy_it_waits_for_what_can_still_run() -> None:
    nodes = [node("n0", WORK.id), node("n1", WORK.id), node("n2", WORK.id, after=["n1"])]
    policy = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    world = Simulation(flow(*nodes, node("n3", WORK.id, after=["n0"]), policy=policy), fails("n0", "n2")).run()
    assert world.phases() == {"fn0": "SUCCEEDED", "n0": "FAILED", "n1": "SUCCEEDED", "n2": "FAILED", "n3": "SKIPPED"}
    assert told(world, "fn0") == user_error("n0 nope").at("n0")


def test_its_retries_work() -> None:
    script: Script = lambda key: (  # noqa: E731
        user_error() if key.path == "n0" else recoverable() if key.attempt < 2 else None
    )
    world = Simulation(flow(node("n0", WORK.id), failure=cleans(retries=2)), script).run()
    assert [key.attempt for key in world.started if key.path == "fn0"] == [0, 1, 2]
    assert world.nodes()["fn0"].phase.name == "SUCCEEDED"
    assert world.state.record.error == user_error().at("n0")


def test_its_own_failure_is_added_and_the_first_one_stays() -> None:
    world = Simulation(flow(node("n0", WORK.id)), fails("n0", "fn0")).run()
    assert world.state.record.error == Failure(
        "USER:RuntimeError",
        ErrorKind.USER,
        "n0 nope\nIts failure node fn0 failed too, with USER:RuntimeError: fn0 nope",
        "n0",
    )
    assert execution_facts(world)[-2:] == ["HANDLING_FAILURE_NODE", "FAILED"]


@pytest.mark.parametrize("kind", ["sub-workflow", "launch plan"])
def test_it_may_be_a_workflow(kind: str) -> None:
    inner = graph("cleanup", [node("n0", WORK.id), node("n1", WORK.id, after=["n0"])])
    target = inner.id if kind == "sub-workflow" else plan("plan", inner).id
    main = graph("wf", [node("bad", WORK.id)], failure=node("fn0", target, bindings=ERR))
    world = Simulation(program([main, inner], [WORK], [plan("plan", inner)]), fails("bad")).run()
    assert world.state.record.phase.value == "FAILED"
    assert world.nodes()["fn0"].phase.name == "SUCCEEDED"
    assert told(world, "fn0") == user_error("bad nope").at("bad")
    if kind == "sub-workflow":
        assert world.phases()["fn0/0/n1"] == "SUCCEEDED"
    else:
        assert [state.record.phase.value for state in world.states.values()] == ["FAILED", "SUCCEEDED"]


def test_a_sub_workflow_runs_its_own_and_fails_all_the_same() -> None:
    """The error names the node inside; the root's failure node runs after that of the sub-workflow."""
    inner = graph("inner", [node("n0", WORK.id), node("n1", WORK.id)], failure=cleans())
    main = graph("wf", [node("n0", inner.id), node("n1", WORK.id)], failure=cleans(id="fn1"))
    world = Simulation(program([main, inner], [WORK, CLEAN]), fails("n0/0/n0", hangs=("n0/0/n1", "n1"))).run()
    assert world.phases() == {
        "fn1": "SUCCEEDED",
        "n0": "FAILED",
        "n0/0/fn0": "SUCCEEDED",
        "n0/0/n0": "FAILED",
        "n0/0/n1": "ABORTED",
        "n1": "ABORTED",
    }
    expected = user_error("n0/0/n0 nope").at("n0/0/n0")
    assert told(world, "n0/0/fn0") == told(world, "fn1") == world.state.record.error == expected
    assert [fact.phase for fact in world.facts if fact.path == "n0"] == ["RUNNING", "FAILING", "FAILED"]


def test_a_failing_clean_up_of_a_sub_workflow_is_added_to_its_error() -> None:
    inner = graph("inner", [node("n0", WORK.id)], failure=cleans())
    world = Simulation(
        program([graph("wf", [node("n0", inner.id)]), inner], [WORK, CLEAN]), fails("n0/0/n0", "n0/0/fn0")
    )
    world.run()
    error = world.state.record.error
    assert error is not None
    assert error.node == "n0/0/n0"
    assert error.message == (
        "n0/0/n0 nope\nIts failure node n0/0/fn0 failed too, with USER:RuntimeError: n0/0/fn0 nope"
    )
    assert world.nodes()["n0"].error == error


def test_an_abort_runs_no_clean_up() -> None:
    world = Simulation(flow(node("n0", WORK.id)), fails(hangs=("n0",))).run()
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert world.phases() == {"n0": "ABORTED"}
    assert (world.state.record.phase.value, world.state.record.abort_cause) == ("ABORTED", "enough")


def test_an_abort_ends_a_clean_up_that_runs() -> None:
    world = Simulation(flow(node("n0", WORK.id)), fails("n0", hangs=("fn0",))).run()
    assert world.state.record.phase.value == "HANDLING_FAILURE_NODE"
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert execution_facts(world) == ["RUNNING", "FAILING", "HANDLING_FAILURE_NODE", "ABORTING", "ABORTED"]
    assert world.phases() == {"fn0": "ABORTED", "n0": "FAILED"}
    assert world.state.record.error == Failure(
        "Aborted", ErrorKind.USER, "enough (it was failing: USER:RuntimeError at node n0: n0 nope)"
    )


def test_an_abort_before_the_clean_up_keeps_it_from_running() -> None:
    world = Simulation(flow(node("n0", WORK.id), node("n1", WORK.id)), fails("n0", hangs=("n1",)))
    while world.state.record.phase.value == "RUNNING":
        world.deliver()
    assert world.state.record.phase.value == "FAILING"
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert world.phases() == {"n0": "FAILED", "n1": "ABORTED"}
    assert world.state.record.phase.value == "ABORTED"


def test_an_abort_of_what_fails_anyhow_changes_nothing() -> None:
    main = graph("wf", [node("n0", WORK.id), node("n1", WORK.id)])
    world = Simulation(program([main], [WORK]), fails("n0", hangs=("n1",)))
    while world.state.record.phase.value == "RUNNING":
        world.deliver()
    step = world.apply(AbortRequested(EXECUTION, "enough"))
    assert step is not None
    assert step.stale
    assert world.run().state.record.phase.value == "FAILED"


def test_a_sub_workflow_that_is_aborted_runs_no_clean_up() -> None:
    inner = graph("inner", [node("n0", WORK.id)], failure=cleans())
    main = graph("wf", [node("n0", inner.id), node("n1", WORK.id)])
    world = Simulation(program([main, inner], [WORK, CLEAN]), fails("n1", hangs=("n0/0/n0",))).run()
    assert world.phases() == {"n0": "ABORTED", "n0/0/n0": "ABORTED", "n1": "FAILED"}


@pytest.mark.parametrize("steps", range(14))
def test_a_crash_at_any_moment_runs_it_once(steps: int) -> None:
    inner = graph("inner", [node("n0", WORK.id), node("n1", WORK.id)], failure=cleans())
    main = graph("wf", [node("n0", inner.id), node("n1", WORK.id)], failure=cleans())
    world = Simulation(program([main, inner], [WORK, CLEAN]), fails("n0/0/n0", hangs=("n1",)))
    for _ in range(steps):
        if world.waiting:
            world.deliver()
    world.resume()
    world.run()
    assert world.state.record.phase.value == "FAILED"
    assert world.state.record.error == user_error("n0/0/n0 nope").at("n0/0/n0")
    assert (world.phases()["fn0"], world.phases()["n0/0/fn0"]) == ("SUCCEEDED", "SUCCEEDED")
    assert max(world.started.values()) == 1
