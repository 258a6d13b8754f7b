"""Nodes are sorted topologically, n2 before n10, and what a node contains comes right after it."""

from __future__ import annotations

import random

from engine.gateway.order import NodeOrder, ranks
from engine.machine.execution import ExecutionState
from engine.model.state import Execution, Node
from tests import programs
from tests.simulation import EXECUTION


def test_the_graph_decides_before_the_number_does() -> None:
    work = programs.task("work")
    nodes = [
        programs.node("n2", work.id),
        programs.node("n0", work.id, after=["n10"]),
        programs.node("n10", work.id),
        programs.node("b", work.id, after=["n0", "n2"]),
    ]
    found = ranks(programs.graph("wf", nodes))
    assert sorted(found, key=found.__getitem__) == ["start-node", "n2", "n10", "n0", "b", "end-node"]


def test_inner_nodes_follow_their_container_attempt_by_attempt() -> None:
    work = programs.task("work")
    inner = programs.graph("inner", [programs.node("n1", work.id), programs.node("n0", work.id, after=["n1"])])
    outer = programs.graph("outer", [programs.node("n0", inner.id), programs.node("n1", work.id, after=["n0"])])
    program = programs.program([outer, inner], [work])
    wanted = ["n0", "n0/0/n1", "n0/0/n0", "n0/1/n1", "n1"]
    nodes = [Node(path, programs.node("x", work.id).kind) for path in wanted]
    record = Execution(EXECUTION, outer.id, outer.id, "digest")
    state = ExecutionState.of(record, program, nodes)
    order = NodeOrder()
    shuffled = random.Random(7).sample(wanted, len(wanted))
    assert sorted(shuffled, key=lambda path: order.key(path, state)) == wanted


def test_a_long_chain_is_no_deep_recursion() -> None:
    found = ranks(programs.chain(3000).workflows[programs.workflow_id("wf")])
    assert (found["n0"], found["n2999"], len(found)) == (1, 3000, 3002)


def test_the_order_of_the_author_counts_where_the_graph_can_run_in_it() -> None:
    work = programs.task("work")
    nodes = [programs.node(name, work.id) for name in ("load", "clean", "b")]
    found = ranks(programs.graph("wf", nodes))
    assert sorted(found, key=found.__getitem__) == ["start-node", "load", "clean", "b", "end-node"]
