"""A workflow that starts itself through a launch plan ends with a clear error of its author's, at every level."""

from __future__ import annotations

from msgspec import structs

from engine.machine.draft import Rules
from engine.machine.places import MOST_LEVELS
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


def test_a_dynamic_task_that_plans_itself_is_stopped_and_all_that_contains_it_has_its_error() -> None:
    dynamic = task("dyn")
    again = graph("dyn", [node("dn0", dynamic.id)])
    world = Simulation(program([graph("wf", [node("n0", dynamic.id)])], [dynamic]), lambda key: "plan:again")
    world.plans["again"] = structs.replace(program([again], [dynamic]), digest="again", root=again.id)
    world.run()

    error = world.state.record.error
    assert error is not None
    assert (error.code, error.kind) == ("NestingTooDeep", ErrorKind.USER)
    assert error.node == "n0" + "/0/dn0" * (MOST_LEVELS + 1)
    assert error.message == (
        "node dn0 stands 501 levels deep, in a graph inside a graph and so on; 500 may be, and a @dynamic task that "
        "plans itself needs an end"
    )
    assert {one.phase.name for path, one in world.nodes().items() if path.endswith(("n0", "dn0"))} == {"FAILED"}
