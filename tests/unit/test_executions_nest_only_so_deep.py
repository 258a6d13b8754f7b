"""A workflow that starts itself through a launch plan ends with a clear error of its author's, at every level."""

from __future__ import annotations

from engine.machine.draft import Rules
from engine.model.errors import ErrorKind
from engine.model.graph import ArraySpec, Program
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from handlers.registry import default_handlers
from tests.programs import graph, node, plan, program, task, workflow_id
from tests.simulation import RULES, Simulation

THREE = Rules(default_handlers(), RetryLimits(), ArrayLimits(), ExecutionLimits(max_nesting=3))


def _endless(array: ArraySpec | None = None) -> Program:
    work = task("work")
    inner = plan("again", graph("wf", []))
    wf = graph("wf", [node("n0", work.id), node("n1", inner.id, after=["n0"], array=array)])
    return program([wf], [work], [plan("again", wf)])


def test_a_workflow_that_starts_itself_is_stopped() -> None:
    world = Simulation(_endless(), rules=THREE).run()

    assert len(world.states) == 4
    assert sorted(state.record.depth for state in world.states.values()) == [0, 1, 2, 3]
    assert {state.record.phase.value for state in world.states.values()} == {"FAILED"}
    error = world.state.record.error
    assert error is not None
    assert (error.code, error.kind, error.node) == ("NestingTooDeep", ErrorKind.USER, "n1")
    assert "would start an execution 4 levels below the first one; execution.max_nesting is 3" in error.message
    deepest = max(world.states.values(), key=lambda state: state.record.depth)
    assert [fact.phase for fact in world.facts if fact.execution == deepest.record.id and fact.path == "n1"] == [
        "FAILING",
        "FAILED",
    ]


def test_the_default_allows_what_people_write() -> None:
    assert RULES.executions.max_nesting == 50
    world = Simulation(_endless()).run()
    assert max(state.record.depth for state in world.states.values()) == 50
    assert workflow_id("wf") in world.program.workflows
