"""Frames: a sub-workflow's, a branch's and a plan's, alone and inside each other, to any depth."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.machine.execution import ExecutionState, past
from engine.model.graph import NodeKind, Program
from engine.model.ids import ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Execution, Node
from tests.programs import branch, graph, node, program, task, workflow_id

WORK = task("work")


def state(whole: Program, *nodes: Node) -> ExecutionState:
    first = next(iter(whole.workflows))
    return ExecutionState.of(Execution(ExecutionId("p", "d", "e1"), first, first, "digest"), whole, nodes)


def test_a_sub_workflow_is_a_scope_of_its_own() -> None:
    inner = graph("inner", [node("n0", WORK.id)])
    found = state(program([graph("outer", [node("n2", inner.id)]), inner], [WORK])).frame("n2/1")
    assert (found.prefix, found.owner, found.scope) == ("n2/1", "n2", "n2/1")
    assert found.graph is inner


def test_what_a_branch_chooses_from_means_the_nodes_around_the_outermost_branch() -> None:
    inner = graph("inner", [node("n0", WORK.id)])
    nested = branch("n1", {"n0": b"", "n2": b""}, [node("n0", inner.id), node("n2", WORK.id)])
    outer = graph("outer", [branch("n0", {"n1": b""}, [nested])])
    whole = state(program([graph("wf", [node("s", outer.id)]), outer, inner], [WORK]))
    assert whole.frame("s/0/n0/0").scope == "s/0"
    assert whole.frame("s/0/n0/0/n1/0").scope == "s/0"
    assert whole.frame("s/0/n0/0/n1/0/n0/0").scope == "s/0/n0/0/n1/0/n0/0"
    assert whole.spec("s/0/n0/0/n1/0/n2").target == WORK.id


def planned(*nodes: Node) -> ExecutionState:
    """n0 wrote a plan: a sub-workflow that has the same name as one of the program, and other nodes."""
    sub = graph("inner", [node("dn7", WORK.id)])
    root = graph("plan", [node("dn0", sub.id), node("dn1", WORK.id)])
    plan = structs.replace(program([root, sub], [WORK]), digest="p1", root=root.id)
    found = state(program([graph("wf", [node("n0", WORK.id)]), graph("inner", [node("n0", WORK.id)])], [WORK]), *nodes)
    found.plans["p1"] = plan
    return found


def test_inside_a_dynamic_task_names_mean_the_plan() -> None:
    found = planned(Node("n0", NodeKind.TASK, NodePhase.DYNAMIC_RUNNING, attempt=1, plan="p1"))
    assert found.frame("n0/1").graph.id == workflow_id("plan")
    assert list(found.frame("n0/1/dn0/0").graph.nodes) == ["start-node", "dn7", "end-node"]
    assert found.frame("n0/1/dn0/0").program is found.plans["p1"]


@pytest.mark.parametrize("prefix", ["n0/0", "n0/2", "n0/1/dn9/0", "n9/0", "n0/1/dn1/0"])
def test_a_frame_that_is_not_there(prefix: str) -> None:
    found = planned(Node("n0", NodeKind.TASK, NodePhase.DYNAMIC_RUNNING, attempt=1, plan="p1"))
    with pytest.raises(KeyError):
        found.frame(prefix)


def test_a_plan_that_is_not_loaded_is_named() -> None:
    found = planned(Node("n0", NodeKind.TASK, NodePhase.DYNAMIC_RUNNING, plan="p2"))
    with pytest.raises(KeyError, match="n0/0: no plan is loaded for this attempt of node n0"):
        found.spec("n0/0/dn0")


def test_a_frame_deep_inside_is_found_without_recursion() -> None:
    depth = 1000
    graphs = [graph(f"w{k}", [node("n0", workflow_id(f"w{k + 1}"))]) for k in range(depth)]
    whole = state(program([*graphs, graph(f"w{depth}", [node("n0", WORK.id)])], [WORK]))
    deepest = "/".join(["n0/0"] * depth)
    assert whole.frame(deepest).graph.id == workflow_id(f"w{depth}")


def test_what_lies_in_an_earlier_attempt_is_past() -> None:
    found = planned(Node("n0", NodeKind.TASK, NodePhase.DYNAMIC_RUNNING, attempt=1, plan="p1"))
    assert past(found, "n0/0/dn0")
    assert past(found, "n0/0/dn0/0/dn7")
    assert not past(found, "n0/1/dn0/0/dn7")
    assert not past(found, "n0")
