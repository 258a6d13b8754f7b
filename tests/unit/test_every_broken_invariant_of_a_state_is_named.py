"""Each rule of the checker, on states that break it: which node, what it is, and what it should be."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import structs

from engine.machine import arrays
from engine.machine.execution import ExecutionState
from engine.machine.invariants import of_child, of_frames, of_snapshot
from engine.machine.replay import Problem
from engine.model.errors import ErrorKind, Failure
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Elements, Execution, Node, Snapshot
from tests.programs import chain

WORKFLOW = next(iter(chain(2).workflows))
E1, CHILD = ExecutionId("p", "d", "e1"), ExecutionId("p", "d", "c1")
ERROR = Failure("USER:Error", ErrorKind.USER, "no", "n0")
TASK, SUB, MAP, PLAN = NodeKind.TASK, NodeKind.SUBWORKFLOW, NodeKind.ARRAY, NodeKind.LAUNCH_PLAN


def execution(phase: str, **more: object) -> Execution:
    made = Execution(E1, WORKFLOW, WORKFLOW, "digest", ExecutionPhase(phase))
    return structs.replace(made, **{"ended_at": 1.0 if made.terminal else 0.0, **more})


def node(path: str, kind: NodeKind, phase: NodePhase, **more: object) -> Node:
    return structs.replace(Node(path, kind, phase), **more)


def sub(phase: NodePhase, **more: object) -> Node:
    """A sub-workflow node whose frame was opened."""
    return node("n1", SUB, phase, attempt_started_at=1.0, **more)


def told(record: Execution, *nodes: Node) -> list[tuple[str, str]]:
    return [(problem.node, problem.what) for problem in of_snapshot(Snapshot(record, nodes))]


END = node("end-node", NodeKind.END, NodePhase.SUCCEEDED, outputs_uri="o")
RUNNING = node("n0", TASK, NodePhase.RUNNING)


def test_states_that_agree_bring_no_problem() -> None:
    inside = [sub(NodePhase.RUNNING), node("n1/0/n0", TASK, NodePhase.QUEUED)]
    assert told(execution("READY")) == []
    assert told(execution("RUNNING"), RUNNING, *inside) == []
    earlier = [sub(NodePhase.RUNNING, attempt=1), node("n1/0/n0", TASK, NodePhase.FAILED, error=ERROR)]
    assert told(execution("RUNNING"), *earlier) == []
    assert told(execution("SUCCEEDED", outputs_uri="o"), END) == []
    assert told(execution("FAILED", error=ERROR), node("n0", TASK, NodePhase.FAILED, error=ERROR)) == []


@pytest.mark.parametrize(
    ("record", "nodes", "problem"),
    [
        (execution("FAILED", error=ERROR), [RUNNING], ("n0", "is RUNNING in an execution that is FAILED")),
        (execution("RUNNING"), [], ("", "is RUNNING and none of its nodes is live")),
        (execution("RUNNING", ended_at=3.0), [RUNNING], ("", "is RUNNING, ended at 3")),
        (execution("FAILED"), [], ("", "has FAILED without an error")),
        (execution("SUCCEEDED"), [], ("", "has SUCCEEDED, its end-node is not there")),
        (execution("SUCCEEDED", outputs_uri="x"), [END], ("", "its outputs are 'x'")),
        (
            execution("RUNNING"),
            [RUNNING, sub(NodePhase.SUCCEEDED)],
            ("n1", "has SUCCEEDED, its end-node is not there"),
        ),
        (
            execution("RUNNING"),
            [node("n1/0/n0", TASK, NodePhase.RUNNING)],
            ("n1/0/n0", "is RUNNING inside n1, which is not there"),
        ),
        (
            execution("RUNNING"),
            [sub(NodePhase.FAILED, error=ERROR), node("n1/0/n0", TASK, NodePhase.RUNNING)],
            ("n1/0/n0", "is RUNNING inside n1, which is attempt 0 FAILED"),
        ),
        (
            execution("RUNNING"),
            [node("n1", SUB, NodePhase.QUEUED), node("n1/0/n0", TASK, NodePhase.RUNNING)],
            ("n1/0/n0", "is RUNNING inside n1, which is attempt 0 QUEUED"),
        ),
        (
            execution("RUNNING"),
            [sub(NodePhase.RUNNING, attempt=1), node("n1/0/n0", TASK, NodePhase.RUNNING)],
            ("n1/0/n0", "is RUNNING inside n1, which is attempt 1 RUNNING"),
        ),
        (
            execution("RUNNING"),
            [sub(NodePhase.RUNNING), node("n1/1/n0", TASK, NodePhase.SUCCEEDED)],
            ("n1/1/n0", "is SUCCEEDED inside n1, which is attempt 0 RUNNING"),
        ),
        (execution("RUNNING"), [RUNNING, node("n1", TASK, NodePhase.FAILED)], ("n1", "has FAILED without an error")),
    ],
)
def test_one_rule_is_broken(record: Execution, nodes: list[Node], problem: tuple[str, str]) -> None:
    assert told(record, *nodes) == [problem]


def elements(*phases: NodePhase) -> Elements:
    made = arrays.created(len(phases))
    for index, phase in enumerate(phases):
        made = arrays.with_element(made, index, phase)
    return structs.replace(made, next=len(bytes(phases).rstrip(b"\0")))


DONE, NEW = NodePhase.SUCCEEDED, NodePhase.NOT_YET_STARTED


@pytest.mark.parametrize(
    ("phase", "found", "problem"),
    [
        (NodePhase.RUNNING, elements(DONE, NodePhase.RUNNING, NEW), None),
        (
            NodePhase.RUNNING,
            structs.replace(elements(DONE), succeeded=2),
            ("n0", "its elements' counter 'succeeded' is 2"),
        ),
        (NodePhase.RUNNING, structs.replace(elements(DONE), failed=1), ("n0", "its elements' counter 'failed' is 1")),
        (NodePhase.RUNNING, structs.replace(elements(DONE), live=1), ("n0", "its elements' counter 'live' is 1")),
        (NodePhase.RUNNING, structs.replace(elements(DONE, NEW), next=2), ("n0", "its elements' counter 'next' is 2")),
        (NodePhase.RUNNING, structs.replace(elements(DONE), size=2), ("n0", "its elements take chunks of [2] bytes")),
        (NodePhase.RUNNING, elements(DONE, NEW, DONE), ("n0[1]", "was left out: later elements were started")),
        (NodePhase.FAILED, elements(NodePhase.RUNNING), ("n0", "is FAILED with 1 live elements")),
        (NodePhase.SUCCEEDED, elements(DONE, NEW), ("n0", "has SUCCEEDED after 1 of 2 elements")),
    ],
)
def test_counters_agree_with_the_bytes(phase: NodePhase, found: Elements, problem: tuple[str, str] | None) -> None:
    mapped = node("n0", MAP, phase, elements=found, error=ERROR)
    live = node("n1", TASK, NodePhase.RUNNING)
    assert told(execution("RUNNING"), mapped, live) == ([problem] if problem else [])


def frames(phases: Mapping[str, NodePhase], phase: str = "RUNNING") -> list[Problem]:
    kinds = {"start-node": NodeKind.START, "end-node": NodeKind.END}
    nodes = [Node(path, kinds.get(path, TASK), phase) for path, phase in phases.items()]
    return list(of_frames(ExecutionState.of(execution(phase), chain(2), nodes)))


def test_what_is_ready_must_have_been_started() -> None:
    started = {"start-node": DONE, "n0": DONE}
    waiting = Problem("was not started, though all it waits for has ended", "started", "n1")
    assert frames(started) == [waiting]
    assert frames({**started, "n1": NodePhase.QUEUED}) == []
    assert frames(started, "FAILING") == []


def test_a_state_of_no_node_of_the_workflow() -> None:
    assert [(found.node, found.expected) for found in frames({"n7": NodePhase.RUNNING})] == [
        ("n7", "no state: its workflow has no such node")
    ]


def child(phase: str, **more: object) -> Execution:
    return structs.replace(execution(phase), **{"id": CHILD, "parent": AttemptKey(E1, "n0"), **more})


@pytest.mark.parametrize(
    ("phase", "found", "what"),
    [
        (NodePhase.RUNNING, child("RUNNING"), None),
        (NodePhase.QUEUED, None, None),
        (NodePhase.RUNNING, None, "is RUNNING, its child execution is not there"),
        (NodePhase.RUNNING, child("SUCCEEDED"), "is RUNNING, its child execution is SUCCEEDED"),
        (NodePhase.SUCCEEDED, child("SUCCEEDED", outputs_uri="o"), None),
        (NodePhase.SUCCEEDED, child("SUCCEEDED", outputs_uri="x"), "its outputs are 'o'"),
        (NodePhase.SUCCEEDED, child("RUNNING"), "has SUCCEEDED, its child execution is RUNNING"),
        (NodePhase.FAILED, None, None),
        (NodePhase.FAILED, child("ABORTED"), None),
        (NodePhase.FAILED, child("SUCCEEDED"), "has FAILED, its child execution has SUCCEEDED"),
        (NodePhase.ABORTED, child("RUNNING"), "is ABORTED, its child execution is RUNNING"),
        (NodePhase.RUNNING, child("RUNNING", parent=None), "its child execution c1 has another parent"),
    ],
)
def test_a_launch_plan_node_agrees_with_its_child(phase: NodePhase, found: Execution | None, what: str | None) -> None:
    parent = node("n0", PLAN, phase, outputs_uri="o")
    problems = list(of_child(parent, found, coming=False, refused=False))
    assert [problem.what for problem in problems] == ([what] if what else [])


def test_an_event_that_is_not_processed_yet_explains_a_difference() -> None:
    parent = node("n0", PLAN, NodePhase.RUNNING)
    assert list(of_child(parent, child("SUCCEEDED"), coming=True, refused=False)) == []
    assert list(of_child(parent, None, coming=False, refused=True)) == []
