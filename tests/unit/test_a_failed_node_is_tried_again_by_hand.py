"""`retry-node`: one more attempt while the execution runs; what was skipped waits again; all else is refused."""

from __future__ import annotations

import pytest

from engine.cli.board import Board
from engine.cli.wording import Group
from engine.machine.children import child_id
from engine.machine.retries import why_not
from engine.model.errors import Failure
from engine.model.events import AbortRequested, NodeRetryRequested
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey
from engine.model.state import Elements
from tests.programs import chain, graph, mapped, node, plan, program, task
from tests.property.test_every_committed_state_keeps_the_invariants import problems
from tests.simulation import EXECUTION, Simulation, user_error

AFTER = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE


def _program(policy: FailurePolicy = AFTER) -> Program:
    """n0 fails; n1 and n2 come after it and are skipped; n3 goes on."""
    work = task("work")
    nodes = [
        node("n0", work.id),
        node("n1", work.id, after=["n0"]),
        node("n2", work.id, after=["n1"]),
        node("n3", work.id),
    ]
    return program([graph("wf", nodes, policy=policy)], [work])


def _failed(whole: Program, *paths: str, size: int = 0) -> Simulation:
    """First attempts there fail; n3 does not end."""

    def script(key: AttemptKey) -> Failure | str | None:
        if key.path == "n3":
            return "hang"
        return user_error(f"{key.path} boom") if key.path in paths and key.attempt == key.node_attempt == 0 else None

    return Simulation(whole, script, size=size).run()


def _retry(world: Simulation, path: str, *, all_elements: bool = False) -> None:
    done = world.apply(NodeRetryRequested(EXECUTION, path, all_elements))
    assert done is not None
    assert done.refusal == ""
    assert problems(world) == []
    world.run()
    assert problems(world) == []


def _end(world: Simulation) -> str:
    """The phase in which it ends once n3 does."""
    world.script = lambda key: None
    world.resume()
    world.run()
    return world.state.record.phase.value


def test_it_runs_once_more_and_what_was_skipped_follows() -> None:
    world = _failed(_program(), "n0")
    assert world.phases() == {"n0": "FAILED", "n1": "SKIPPED", "n2": "SKIPPED", "n3": "RUNNING"}
    assert world.state.record.error is not None
    _retry(world, "n0")

    assert world.phases() == {"n0": "SUCCEEDED", "n1": "SUCCEEDED", "n2": "SUCCEEDED", "n3": "RUNNING"}
    assert world.nodes()["n0"].attempt == 1
    assert world.nodes()["n1"].attempt == 0
    assert world.state.record.error is None
    assert [(fact.phase, fact.attempt) for fact in world.facts if fact.path == "n0"] == [
        ("QUEUED", 0),
        ("RUNNING", 0),
        ("FAILED", 0),
        ("NOT_YET_STARTED", 1),
        ("QUEUED", 1),
        ("RUNNING", 1),
        ("SUCCEEDED", 1),
    ]
    assert _end(world) == "SUCCEEDED"


def test_a_second_failure_counts_like_the_first() -> None:
    world = _failed(_program(), "n0")
    world.script = lambda key: user_error("again") if key.path == "n0" else None
    _retry(world, "n0")
    assert world.phases()["n1"] == "SKIPPED"
    world.resume()
    world.run()
    error = world.state.record.error
    assert error is not None
    assert (world.state.record.phase.value, error.message, error.node) == ("FAILED", "again", "n0")


def test_the_other_failure_is_the_error_then() -> None:
    work = task("work")
    nodes = [node("n0", work.id), node("n1", work.id), node("n3", work.id)]
    world = _failed(program([graph("wf", nodes, policy=AFTER)], [work]), "n0", "n1")
    _retry(world, "n0")
    error = world.state.record.error
    assert error is not None
    assert (error.message, error.node) == ("n1 boom", "n1")
    assert _end(world) == "FAILED"


@pytest.mark.parametrize("kind", ["map", "sub-workflow", "launch plan"])
def test_nodes_of_every_kind(kind: str) -> None:
    work = task("work")
    many, inner = mapped(work), graph("inner", [node("n8", work.id)])
    child = graph("child", [node("n9", work.id)])
    child_plan = plan("child_plan", child)
    target = {"map": many.id, "sub-workflow": inner.id, "launch plan": child_plan.id}[kind]
    first = node("n0", target, array=ArraySpec() if kind == "map" else None)
    wf = graph("wf", [first, node("n1", work.id, after=["n0"]), node("n3", work.id)], policy=AFTER)

    def script(key: AttemptKey) -> Failure | str | None:
        if key.path == "n3":
            return "hang"
        bad = key.execution != EXECUTION or key.path in ("n0", "n0/0/n8")
        return user_error() if bad and key.path != "n1" and key.node_attempt == 0 else None

    world = Simulation(program([wf, inner, child], [work, many], [child_plan]), script, size=2).run()
    assert world.phases()["n0"] == "FAILED"
    world.script = lambda key: None
    _retry(world, "n0")
    phases = world.phases()
    assert (phases["n0"], phases["n1"]) == ("SUCCEEDED", "SUCCEEDED")
    assert _end(world) == "SUCCEEDED"


def _map(*, size: int, over_plans: bool = False) -> Simulation:
    """A map of which the elements 1 and 3 fail, whatever attempt of it: the others end first."""
    work = task("work")
    many, child = mapped(work), graph("child", [node("n9", work.id)])
    child_plan = plan("child_plan", child)
    first = node("n0", child_plan.id if over_plans else many.id, array=ArraySpec(run_all=True))
    wf = graph("wf", [first, node("n1", work.id, after=["n0"]), node("n3", work.id)], policy=AFTER)
    bad = {child_id(AttemptKey(EXECUTION, "n0", 0, index)) for index in (1, 3)} if over_plans else set()

    def script(key: AttemptKey) -> Failure | str | None:
        if key.path == "n3":
            return "hang"
        return user_error() if key.execution in bad or (key.path == "n0" and key.index in (1, 3)) else None

    return Simulation(program([wf, child], [work, many], [child_plan]), script, size=size).run()


def _elements(world: Simulation) -> Elements:
    found = world.nodes()["n0"].elements
    assert found is not None
    return found


def test_a_map_keeps_the_elements_that_succeeded() -> None:
    world = _map(size=5)
    assert world.element_phases("n0") == ["SUCCEEDED", "FAILED", "SUCCEEDED", "FAILED", "SUCCEEDED"]
    world.started.clear()
    world.script = lambda key: user_error() if key.index == 3 else None
    _retry(world, "n0")
    assert sorted(key.index or 0 for key in world.started if key.path == "n0") == [1, 3]
    assert world.element_phases("n0") == ["SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "FAILED", "SUCCEEDED"]
    assert _elements(world).recovered == 3

    world.started.clear()
    world.script = lambda key: None
    _retry(world, "n0")
    assert [(key.index, key.node_attempt) for key in world.started if key.path == "n0"] == [(3, 2)]
    assert (_elements(world).recovered, world.phases()["n1"]) == (4, "SUCCEEDED")
    assert _elements(world).output_bytes == {"o0": 50}


def test_a_map_runs_all_its_elements_where_that_is_asked_for() -> None:
    world = _map(size=5)
    world.started.clear()
    world.script = lambda key: None
    _retry(world, "n0", all_elements=True)
    assert sorted(key.index or 0 for key in world.started if key.path == "n0") == [0, 1, 2, 3, 4]
    assert _elements(world).recovered == 0


def test_a_map_over_a_launch_plan_runs_nothing_again_of_children_that_succeeded() -> None:
    world = _map(size=5, over_plans=True)
    assert world.element_phases("n0") == ["SUCCEEDED", "FAILED", "SUCCEEDED", "FAILED", "SUCCEEDED"]
    world.started.clear()
    world.script = lambda key: None
    _retry(world, "n0")
    children = [child_id(AttemptKey(EXECUTION, "n0", 0, index, 1)) for index in range(5)]
    assert {key.execution for key in world.started if key.path == "n9"} == {children[1], children[3]}
    assert [world.phases(child)["n9"] for child in children[:2]] == ["RECOVERED", "SUCCEEDED"]
    assert world.phases()["n1"] == "SUCCEEDED"


def test_a_map_that_is_tried_again_survives_a_crash_between_its_elements() -> None:
    world = _map(size=5)
    world.started.clear()
    world.script = lambda key: None
    world.apply(NodeRetryRequested(EXECUTION, "n0"))
    for _ in range(4):
        world.deliver()
        world.resume()
    world.run()
    assert {key.index for key in world.started if key.path == "n0"} == {1, 3}
    assert world.phases()["n1"] == "SUCCEEDED"


def test_inside_a_sub_workflow_whose_policy_lets_it_go_on() -> None:
    work = task("work")
    inner = graph("inner", [node("n0", work.id), node("n1", work.id, after=["n0"]), node("n2", work.id)], policy=AFTER)
    wf = program([graph("wf", [node("n0", inner.id)]), inner], [work])

    def script(key: AttemptKey) -> Failure | str | None:
        if key.path == "n0/0/n2":
            return "hang"
        return user_error() if key.path == "n0/0/n0" and not key.attempt else None

    world = Simulation(wf, script).run()
    assert world.nodes()["n0"].error is not None
    _retry(world, "n0/0/n0")
    assert world.phases()["n0/0/n1"] == "SUCCEEDED"
    assert world.nodes()["n0"].error is None
    assert _end(world) == "SUCCEEDED"


def test_views_count_it_no_more_among_the_failed() -> None:
    world = _failed(_program(), "n0")
    board = Board(world.states.get)
    board.follow(EXECUTION)
    assert board.ended == {Group.FAILED: 1, Group.SKIPPED: 2}
    seen = len(world.facts)
    _retry(world, "n0")
    board.see([world.state.record], world.facts[seen:])
    assert +board.ended == {Group.DONE: 3}


def test_only_what_can_be_tried_again_is_proposed() -> None:
    work = task("work")
    inner = graph("inner", [node("n0", work.id)])
    outer = graph("wf", [node("n0", inner.id), node("n1", work.id), node("n3", work.id)], policy=AFTER)
    world = _failed(program([outer, inner], [work]), "n0/0/n0", "n1")
    assert why_not(world.state, "n0/0/n0") == ("node n0, which contains n0/0/n0, is FAILED: its graph goes on no more")
    assert why_not(world.state, "n7").endswith("only a node that has failed can be tried again: n0, n1 have")


def test_what_makes_no_sense_is_refused_with_the_reason() -> None:
    world = _failed(_program(), "n0")
    assert why_not(world.state, "n3") == ("node n3 is RUNNING; only a node that has failed can be tried again: n0 has")
    assert why_not(world.state, "n7") == (
        "no node n7 has been started; only a node that has failed can be tried again: n0 has"
    )
    refused = world.apply(NodeRetryRequested(EXECUTION, "n3"))
    assert refused is not None
    assert refused.refusal.startswith("node n3 is RUNNING")
    assert world.phases()["n0"] == "FAILED"

    world.apply(AbortRequested(EXECUTION, "enough"))
    assert why_not(world.state, "n0") == (
        "execution e1 is ABORTING: no node of it can be tried again; recover it when it has ended"
    )
    done = Simulation(chain(1), lambda key: user_error()).run()
    assert why_not(done.state, "n0") == "execution e1 is FAILED: no node of it can be tried again; recover it instead"


def test_a_graph_that_has_failed_already_is_not_opened_again() -> None:
    work = task("work")
    inner = graph("inner", [node("n0", work.id), node("n1", work.id)])
    wf = graph("wf", [node("n0", inner.id), node("n3", work.id)], policy=AFTER)
    world = _failed(program([wf, inner], [work]), "n0/0/n0")
    assert world.phases()["n0"] == "FAILED"
    assert why_not(world.state, "n0/0/n0") == ("node n0, which contains n0/0/n0, is FAILED: its graph goes on no more")


def test_a_repeated_request_and_a_crash_in_between_give_one_attempt() -> None:
    world = _failed(_program(), "n0")
    world.apply(NodeRetryRequested(EXECUTION, "n0"))
    again = world.apply(NodeRetryRequested(EXECUTION, "n0"))
    assert again is not None
    assert again.refusal.startswith("node n0 is QUEUED")
    world.resume()
    world.run()
    assert world.nodes()["n0"].attempt == 1
    assert world.phases()["n2"] == "SUCCEEDED"
