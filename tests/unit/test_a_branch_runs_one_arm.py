"""The choice, the arm that waits, what is skipped, how it ends: behaviour reference 6.1, user case S20."""

from __future__ import annotations

import pytest

from engine.model.errors import Failure
from engine.model.events import AbortRequested, AttemptFailed
from engine.model.graph import ArraySpec, FailurePolicy, NodeSpec, Program
from engine.model.ids import AttemptKey
from tests.programs import branch, graph, mapped, node, plan, program, promise, task
from tests.simulation import EXECUTION, Simulation, user_error

WORK = task("work")
POLICY = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE


def choice(*bodies: NodeSpec, after: tuple[str, ...] = ()) -> NodeSpec:
    """A conditional c over these bodies; the first one has a condition."""
    return branch("c", {body.id: b"" if place else b"if" for place, body in enumerate(bodies)}, bodies, after=after)


def flow(*nodes: NodeSpec, policy: FailurePolicy = FailurePolicy.FAIL_IMMEDIATELY) -> Program:
    return program([graph("wf", nodes, policy=policy)], [WORK])


def history(world: Simulation, path: str) -> list[str]:
    return [fact.phase for fact in world.facts if fact.path == path]


TWO = choice(node("n0", WORK.id), node("n1", WORK.id))


def test_the_chosen_arm_runs_and_the_other_is_skipped_with_a_fact() -> None:
    world = Simulation(flow(TWO, node("join", WORK.id, after=["c"])), choices={"c": "n1"}).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.phases() == {"c": "SUCCEEDED", "c/0/n0": "SKIPPED", "c/0/n1": "SUCCEEDED", "join": "SUCCEEDED"}
    assert history(world, "c") == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert history(world, "c/0/n0") == ["SKIPPED"]
    assert set(world.started) == {AttemptKey(EXECUTION, "c/0/n1"), AttemptKey(EXECUTION, "join")}
    nodes = world.nodes()
    assert nodes["c"].outputs_uri == nodes["c/0/n1"].outputs_uri != ""
    assert (nodes["c"].choice, nodes["c/0/n1"].inputs_uri) == ("n1", "")


def test_an_arm_takes_its_values_from_the_graph_around_the_branch() -> None:
    """Body n0 reads from the outer n0, and a nested body too."""
    nested = branch("n1", {"n0": b""}, [node("n0", WORK.id, after=["n0"], bindings=[promise("a", "n0")])])
    world = Simulation(flow(node("n0", WORK.id), choice(nested, after=("n0",))))
    while "c/0/n1/0/n0" not in world.nodes():
        world.deliver()
    context = _context(world, "c/0/n1/0/n0")
    assert context == {"n0": world.nodes()["n0"].outputs_uri}


def _context(world: Simulation, path: str) -> dict[str, str]:
    from engine.machine.draft import Draft

    return dict(Draft(world.state, world.rules, world.now).context(path).sources)


def test_the_branch_waits_for_its_condition_only_and_the_arm_for_its_own() -> None:
    """slow is needed by arm n0 only."""
    slow = node("slow", WORK.id)
    both = choice(node("n0", WORK.id, after=["slow"]), node("n1", WORK.id))
    hangs = lambda key: "hang" if key.path == "slow" else None  # noqa: E731
    waiting = Simulation(flow(slow, both), hangs).run()
    assert waiting.phases() == {"c": "RUNNING", "c/0/n1": "SKIPPED", "slow": "RUNNING"}
    other = Simulation(flow(slow, both), hangs, choices={"c": "n1"}).run()
    assert other.phases() == {"c": "SUCCEEDED", "c/0/n0": "SKIPPED", "c/0/n1": "SUCCEEDED", "slow": "RUNNING"}


@pytest.mark.parametrize("steps", range(12))
def test_an_arm_that_waits_is_woken_whenever_the_engine_was_restarted(steps: int) -> None:
    inner = branch("n0", {"n0": b"", "n1": b""}, [node("n0", WORK.id, after=["slow"]), node("n1", WORK.id)])
    world = Simulation(flow(node("first", WORK.id), node("slow", WORK.id, after=["first"]), choice(inner)))
    for _ in range(steps):
        if world.waiting:
            world.deliver(-1)
    world.resume()
    world.run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.phases()["c/0/n0/0/n0"] == "SUCCEEDED"
    assert set(world.started.values()) == {1}


def test_a_condition_that_can_t_be_evaluated_fails_the_branch() -> None:
    world = Simulation(flow(TWO))
    world.waiting.clear()
    world.apply(AttemptFailed(AttemptKey(EXECUTION, "c"), user_error("no"), recoverable=True))
    world.run()
    assert world.phases() == {"c": "FAILED"}
    assert world.state.record.error == user_error("no").at("c")


def test_an_arm_that_fails_fails_the_branch_with_its_error() -> None:
    world = Simulation(flow(TWO), lambda key: user_error("bad arm") if key.path == "c/0/n0" else None).run()
    assert world.phases() == {"c": "FAILED", "c/0/n0": "FAILED", "c/0/n1": "SKIPPED"}
    assert world.state.record.error == user_error("bad arm").at("c/0/n0")
    assert history(world, "c") == ["QUEUED", "RUNNING", "FAILING", "FAILED"]


def test_an_arm_whose_predecessor_failed_is_skipped_and_so_is_the_branch() -> None:
    """The first failure stays the execution's error; what follows the branch is skipped too."""
    nodes = [
        node("bad", WORK.id),
        choice(node("n0", WORK.id, after=["bad"]), node("n1", WORK.id)),
        node("join", WORK.id, after=["c"]),
        node("other", WORK.id),
    ]
    fails = lambda key: user_error("first") if key.path == "bad" else None  # noqa: E731
    for late in (False, True):
        world = Simulation(flow(*nodes, policy=POLICY), fails)
        while world.waiting:
            world.deliver(-1 if late else 0)
        assert world.phases() == {
            "bad": "FAILED",
            "c": "SKIPPED",
            "c/0/n0": "SKIPPED",
            "c/0/n1": "SKIPPED",
            "join": "SKIPPED",
            "other": "SUCCEEDED",
        }
        assert world.state.record.phase.value == "FAILED"
        assert world.state.record.error == user_error("first").at("bad")


def everything() -> Program:
    """Arms of every kind: a sub-workflow with a conditional of its own, a launch plan, a map, a nested conditional."""
    many, child = mapped(WORK), graph("child", [node("n0", WORK.id)])
    sub = graph("sub", [node("n0", WORK.id), choice(node("n0", WORK.id, after=["n0"]), node("n1", WORK.id))])
    arms = [
        node("n0", sub.id),
        node("n1", plan("plan", child).id),
        node("n2", many.id, array=ArraySpec()),
        branch("n3", {"n0": b"", "n1": b""}, [node("n0", sub.id, after=["n0"]), node("n1", WORK.id)]),
    ]
    outer = graph("wf", [node("n0", WORK.id), choice(*arms), node("n1", WORK.id, after=["c"])])
    return program([outer, sub, child], [WORK, many], [plan("plan", child)])


@pytest.mark.parametrize("arm", ["n0", "n1", "n2", "n3"])
def test_an_arm_may_be_of_any_kind(arm: str) -> None:
    world = Simulation(everything(), size=3, choices={"c": arm}).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.phases()[f"c/0/{arm}"] == "SUCCEEDED"
    skipped = [path for path, phase in world.phases().items() if phase == "SKIPPED" and path.count("/") == 2]
    assert skipped == [f"c/0/{other}" for other in ("n0", "n1", "n2", "n3") if other != arm]


@pytest.mark.parametrize("arm", ["n0", "n1", "n2", "n3"])
@pytest.mark.parametrize("steps", range(0, 24, 2))
def test_an_abort_at_any_moment_ends_every_kind_of_arm(arm: str, steps: int) -> None:
    world = Simulation(everything(), lambda key: "hang" if key.path != "n0" else None, size=3, choices={"c": arm})
    for _ in range(steps):
        if world.waiting:
            world.deliver()
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert world.state.record.phase.value == "ABORTED"
    assert not any(state.live for state in world.states.values())
    assert not world.alive


def test_an_abort_while_the_arm_still_waits() -> None:
    world = Simulation(flow(node("slow", WORK.id), choice(node("n0", WORK.id, after=["slow"]))), lambda key: "hang")
    world.run()
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert world.phases() == {"c": "ABORTED", "slow": "ABORTED"}
    assert history(world, "c") == ["QUEUED", "RUNNING", "ABORTING", "ABORTED"]


def test_a_failure_elsewhere_stops_an_arm() -> None:
    def script(key: AttemptKey) -> Failure | str | None:
        return user_error() if key.path == "bad" else "hang"

    world = Simulation(flow(TWO, node("bad", WORK.id)), script)
    while world.phases().get("c/0/n0") != "RUNNING":
        world.deliver(-1)
    world.run()
    assert world.phases() == {"bad": "FAILED", "c": "ABORTED", "c/0/n0": "ABORTED", "c/0/n1": "SKIPPED"}
