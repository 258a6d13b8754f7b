"""Retries and timeouts of sub-workflow, launch plan, branch and @dynamic nodes, and of maps over launch plans."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.machine.draft import Rules
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AbortRequested, AttemptPlanned, ExecutionSubmitted, TimerFired
from engine.model.graph import NodeSpec, Program
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.limits import ArrayLimits, RetryLimits
from engine.model.phases import NodePhase
from handlers.registry import default_handlers
from tests.programs import constant, graph, node, program, task, workflow_id
from tests.simulation import EXECUTION, Script, Simulation, lost, recoverable, user_error

WORK, CLEAN = task("work"), task("clean")
INNER = graph("inner", [node("n0", WORK.id), node("n1", WORK.id, after=["n0"])])


def sub(retries: int = 2, *, timeout: float | None = None) -> Program:
    main = graph("wf", [node("n0", INNER.id, retries=retries, timeout=timeout), node("n1", WORK.id, after=["n0"])])
    return program([main, INNER], [WORK])


def bad(*paths: str, failure: Failure | None = None) -> Script:
    return lambda key: (failure or user_error(f"{key.path} nope")) if key.path in paths else None


def history(world: Simulation, path: str = "n0") -> list[tuple[str, int]]:
    return [(fact.phase, fact.attempt) for fact in world.facts if fact.path == path]


def test_a_sub_workflow_runs_anew_in_a_frame_of_its_own() -> None:
    """Whatever failed inside: the author asked for the whole to be tried again."""
    world = Simulation(sub(), bad("n0/0/n1")).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.phases() == {
        "n0": "SUCCEEDED",
        "n0/0/n0": "SUCCEEDED",
        "n0/0/n1": "FAILED",
        "n0/1/n0": "SUCCEEDED",
        "n0/1/n1": "SUCCEEDED",
        "n1": "SUCCEEDED",
    }
    assert history(world) == [
        ("RUNNING", 0),
        ("RETRYABLE_FAILURE", 0),
        ("QUEUED", 1),
        ("RUNNING", 1),
        ("SUCCEEDED", 1),
    ]
    found = world.nodes()["n0"]
    assert (found.error, found.outputs_uri) == (None, world.nodes()["n0/1/end-node"].outputs_uri)


def test_what_is_spent_says_so_and_names_the_node_inside() -> None:
    world = Simulation(sub(1), bad("n0/0/n1", "n0/1/n0")).run()
    assert world.state.record.error == Failure(
        "RetriesExhausted|USER:RuntimeError",
        ErrorKind.USER,
        "[2/2] attempts done. Last error: USER::n0/1/n0 nope",
        "n0/1/n0",
    )


def test_without_retries_the_error_inside_is_the_nodes() -> None:
    for failure in (user_error(), lost()):
        world = Simulation(sub(0), bad("n0/0/n1", failure=failure)).run()
        error = world.state.record.error
        assert error is not None
        assert error.code == (failure.code if failure.kind is ErrorKind.USER else f"RetriesExhausted|{failure.code}")
        assert not [path for path in world.nodes() if path.startswith("n0/1")]


def test_a_system_failure_inside_has_its_own_budget_there_and_counts_here_like_any_other() -> None:
    """Four attempts of the node inside, each time the whole is tried: the code says once that they are spent."""
    world = Simulation(sub(1), bad("n0/0/n0", "n0/1/n0", failure=lost())).run()
    error = world.state.record.error
    assert error is not None
    assert (error.code, error.kind) == ("RetriesExhausted|ResourceDeletedExternally", ErrorKind.SYSTEM)
    assert sum(world.started.values()) == 8


def test_what_is_left_of_an_attempt_is_stopped_before_the_next_one_starts() -> None:
    inner = graph("inner", [node("n0", WORK.id), node("n1", WORK.id)])
    main = graph("wf", [node("n0", inner.id, retries=1, bindings=[constant("a", 1)])])
    script: Script = lambda key: (  # noqa: E731
        user_error() if key.path == "n0/0/n0" else "hang" if key.path == "n0/0/n1" else None
    )
    world = Simulation(program([main, inner], [WORK]), script).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    facts = [(fact.path, fact.phase, fact.attempt) for fact in world.facts]
    assert facts.index(("n0/0/n1", "ABORTED", 0)) < facts.index(("n0", "QUEUED", 1))
    assert not world.alive


def test_the_clean_up_of_a_sub_workflow_runs_after_each_failed_attempt() -> None:
    inner = graph("inner", [node("n0", WORK.id)], failure=node("fn0", CLEAN.id))
    main = graph("wf", [node("n0", inner.id, retries=1)])
    world = Simulation(program([main, inner], [WORK, CLEAN]), bad("n0/0/n0", "n0/1/n0")).run()
    assert (world.phases()["n0/0/fn0"], world.phases()["n0/1/fn0"]) == ("SUCCEEDED", "SUCCEEDED")
    facts = [(fact.path, fact.phase) for fact in world.facts]
    assert facts.index(("n0/0/fn0", "SUCCEEDED")) < facts.index(("n0", "QUEUED"))


def _hangs(*paths: str) -> Script:
    return lambda key: "hang" if key.path in paths else None


def test_the_timeout_of_a_sub_workflow_counts_from_each_attempts_start() -> None:
    world = Simulation(sub(1, timeout=60.0), _hangs("n0/0/n0", "n0/1/n1"))
    while world.waiting:
        world.deliver()
    found = world.nodes()["n0"]
    assert found.wake_at == found.attempt_started_at + 60
    world.run()
    assert world.state.record.error == Failure(
        "RetriesExhausted|TimeoutExpired",
        ErrorKind.USER,
        "[2/2] attempts done. Last error: USER::sub-workflow execution timeout [60 s] expired",
        "n0",
    )
    assert (world.phases()["n0/0/n0"], world.phases()["n0/1/n1"]) == ("ABORTED", "ABORTED")
    assert [phase for phase, _ in history(world)] == [
        "RUNNING",
        "RETRYABLE_FAILURE",
        "QUEUED",
        "RUNNING",
        "FAILING",
        "FAILED",
    ]
    assert not world.alive


def test_a_timeout_that_is_not_reached_does_nothing() -> None:
    world = Simulation(sub(1, timeout=60.0))
    while world.waiting:
        world.deliver()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert not world.tick()


def test_an_abort_while_the_next_attempt_waits() -> None:
    rules = Rules(default_handlers(), RetryLimits(user_wait_seconds=100.0), ArrayLimits())
    world = Simulation(sub(), bad("n0/0/n1"), rules=rules)
    while world.waiting:
        world.deliver()
    assert world.nodes()["n0"].phase is NodePhase.RETRYABLE_FAILURE
    world.apply(AbortRequested(EXECUTION, "enough"))
    assert world.state.record.phase.value == "ABORTED"
    assert history(world)[-2:] == [("ABORTING", 0), ("ABORTED", 0)]


@pytest.mark.parametrize("steps", range(20))
def test_a_crash_at_any_moment_of_a_retry(steps: int) -> None:
    world = Simulation(sub(), bad("n0/0/n1"))
    for _ in range(steps):
        if world.waiting:
            world.deliver()
    world.resume()
    world.run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert max(world.started.values()) == 1


def test_late_events_of_an_earlier_attempt_change_nothing() -> None:
    world = Simulation(sub(), bad("n0/0/n1"))
    seen = []
    while world.waiting or world.tick():
        seen.append(world.waiting[0])
        world.deliver()
    before = dict(world.nodes())
    for event in seen:
        step = world.apply(event)
        assert step is not None
        assert step.stale
    assert world.nodes() == before


def planning(retries: int, *, timeout: float | None = None) -> Simulation:
    """n0 plans one node; its task and that node do what a test says."""
    root = graph("plan", [node("dn0", WORK.id)])
    plan = structs.replace(program([root], [WORK]), digest="p1", root=root.id)
    main = program([graph("wf", [node("n0", WORK.id, retries=retries, timeout=timeout)])], [WORK])
    world = Simulation(main, lambda key: "hang")
    world.plans["p1"] = plan
    return world


def test_a_dynamic_task_plans_anew_when_its_graph_has_failed() -> None:
    world = planning(1)
    world.script = lambda key: "hang" if key.path == "n0" else user_error("child") if key.path == "n0/0/dn0" else None
    for attempt in (0, 1):
        world.apply(AttemptPlanned(AttemptKey(EXECUTION, "n0", attempt), "p1"))
        world.run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.phases() == {"n0": "SUCCEEDED", "n0/0/dn0": "FAILED", "n0/1/dn0": "SUCCEEDED"}
    assert [phase for phase, _ in history(world)] == [
        "QUEUED",
        "RUNNING",
        "DYNAMIC_RUNNING",
        "RETRYABLE_FAILURE",
        "QUEUED",
        "RUNNING",
        "DYNAMIC_RUNNING",
        "SUCCEEDED",
    ]


def test_a_dynamic_task_without_retries_fails_with_its_childs_error() -> None:
    world = planning(0)
    world.script = lambda key: user_error("child")
    world.apply(AttemptPlanned(AttemptKey(EXECUTION, "n0"), "p1"))
    world.run()
    assert world.state.record.error == user_error("child").at("n0/0/dn0")


def test_the_timeout_of_a_dynamic_task_covers_its_graph() -> None:
    world = planning(0, timeout=60.0)
    while world.waiting:
        world.deliver()
    begun = world.nodes()["n0"].attempt_started_at
    world.now += 20
    world.apply(AttemptPlanned(AttemptKey(EXECUTION, "n0"), "p1"))
    assert world.nodes()["n0"].wake_at == begun + 60
    world.run()
    assert world.phases() == {"n0": "FAILED", "n0/0/dn0": "ABORTED"}
    error = world.state.record.error
    assert error is not None
    assert (error.code, error.node) == ("RetriesExhausted|TimeoutExpired", "n0")


def nested(depth: int) -> Program:
    graphs = [graph("w0", [node("n0", WORK.id)])]
    specs: list[NodeSpec] = []
    for level in range(1, depth):
        specs = [node("n0", graphs[-1].id, retries=1 if level == depth - 1 else 0)]
        graphs.append(graph(f"w{level}", specs))
    return program([*reversed(graphs)], [WORK])


def test_fifty_sub_workflows_inside_each_other_are_tried_again_aborted_and_timed_out() -> None:
    first = "/".join(["n0/0"] * 49) + "/n0"
    world = Simulation(nested(50), bad(first)).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    hanging = Simulation(nested(50), lambda key: "hang")
    while hanging.waiting:
        hanging.deliver()
    hanging.apply(AbortRequested(EXECUTION, "enough"))
    hanging.run()
    assert hanging.state.record.phase.value == "ABORTED"
    assert not hanging.state.live


def test_a_timer_of_an_earlier_attempt_is_stale() -> None:
    world = Simulation(sub(1, timeout=60.0), _hangs("n0/0/n0", "n0/1/n0"))
    while world.waiting:
        world.deliver()
    at = world.nodes()["n0"].wake_at
    world.tick()
    while world.waiting:
        world.deliver()
    assert world.nodes()["n0"].attempt == 1
    for stale in (TimerFired(AttemptKey(EXECUTION, "n0"), at), TimerFired(AttemptKey(EXECUTION, "n0", 1), at)):
        step = world.apply(stale)
        assert step is not None
        assert step.stale


def test_recoverable_failures_inside_use_their_own_budget_first() -> None:
    inner = graph("inner", [node("n0", WORK.id, retries=1)])
    main = graph("wf", [node("n0", inner.id, retries=1)])
    script: Script = lambda key: recoverable() if key.path == "n0/0/n0" else None  # noqa: E731
    world = Simulation(program([main, inner], [WORK]), script).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert [key.attempt for key in world.started if key.path == "n0/0/n0"] == [0, 1]


def test_the_timeout_holds_for_a_plan_that_is_taken_over_from_a_failed_execution() -> None:
    world = planning(0, timeout=60.0)
    world.script = lambda key: user_error() if key.execution == EXECUTION else "hang"
    world.apply(AttemptPlanned(AttemptKey(EXECUTION, "n0"), "p1"))
    world.run()
    again = ExecutionId("p", "d", "again")
    world.apply(ExecutionSubmitted(again, workflow_id("wf"), "digest", recovers=EXECUTION))
    taken = world.nodes(again)["n0"]
    assert (taken.phase, taken.wake_at) == (NodePhase.DYNAMIC_RUNNING, taken.attempt_started_at + 60)
    world.run()
    assert world.phases(again) == {"n0": "FAILED", "n0/0/dn0": "ABORTED"}
