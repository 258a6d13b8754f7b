"""`max_parallelism`: never more counted nodes at once, nothing forgotten, first ready first started; any order.

Behaviour reference 9.1; each execution counts its own, so that a parent's launch plan nodes never starve the children.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.machine.draft import Rules
from engine.machine.places import takes_place
from engine.machine.waiting import waiting
from engine.model.events import AbortRequested
from engine.model.graph import ArraySpec, Program
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from engine.model.overrides import Overrides
from handlers.registry import default_handlers
from tests.programs import approve, gate, graph, mapped, node, plan, program, sleep, task
from tests.property.test_every_committed_state_keeps_the_invariants import problems
from tests.simulation import EXECUTION, RULES, Simulation


def _rules(most: int) -> Rules:
    return Rules(default_handlers(), RetryLimits(), ArrayLimits(), ExecutionLimits(max_parallelism=most))


def _wide() -> Program:
    """Twelve nodes of all kinds that are ready at once, four of them in a sub-workflow; then one that needs all."""
    work = task("work")
    many = mapped(work)
    inner = graph("inner", [node(f"n{k}", work.id, retries=1) for k in range(4)])
    child = graph("child", [node("n0", work.id), node("n1", work.id), node("n2", work.id)])
    child_plan = plan("child_plan", child)
    nodes = [
        node("n0", inner.id),
        *[node(f"n{k}", work.id) for k in range(1, 5)],
        *[node(f"n{k}", child_plan.id) for k in range(5, 7)],
        node("n7", many.id, array=ArraySpec()),
        gate("n8", sleep(0.0)),
        node("n9", work.id, after=["n8"]),
    ]
    last = node("n10", work.id, after=[spec.id for spec in nodes])
    return program([graph("wf", [*nodes, last]), inner, child], [work, many], [child_plan])


PROGRAM = _wide()


def _busy(world: Simulation) -> int:
    return max(sum(takes_place(one) for one in state.nodes.values()) for state in world.states.values())


@given(most=st.integers(1, 6), actions=st.lists(st.integers(0, 60), max_size=60))
@settings(max_examples=150, deadline=None)
def test_in_any_order(most: int, actions: list[int]) -> None:
    world = Simulation(PROGRAM, size=3, rules=_rules(most))
    for action in actions:
        if action == 60:
            world.resume()
        elif world.waiting:
            world.deliver(action)
        assert _busy(world) <= most
        assert all(state.busy == sum(map(takes_place, state.nodes.values())) for state in world.states.values())
        assert problems(world) == []
    while world.waiting:
        world.deliver()
        assert _busy(world) <= most

    assert world.state.record.phase.value == "SUCCEEDED"
    assert set(world.started.values()) == {1}


@given(actions=st.lists(st.integers(0, 60), max_size=40), crash=st.booleans())
@settings(max_examples=60, deadline=None)
def test_an_abort_starts_nothing_that_waited(actions: list[int], crash: bool) -> None:
    world = Simulation(PROGRAM, lambda key: "hang", size=3, rules=_rules(2))
    for action in actions:
        if world.waiting:
            world.deliver(action)
    world.apply(AbortRequested(EXECUTION, "enough"))
    if crash:
        world.resume()
    before = set(world.nodes())
    world.run()
    assert world.state.record.phase.value == "ABORTED"
    assert set(world.nodes()) == before


def test_the_first_that_is_ready_is_the_first_to_start() -> None:
    work = task("work")
    wf = program([graph("wf", [node(f"n{k}", work.id) for k in range(6)])], [work])
    world = Simulation(wf, rules=_rules(2))
    started: list[str] = []
    while world.waiting:
        started += [path for path in world.state.live if path not in started]
        world.deliver(len(world.waiting) - 1)
    assert [path for path in started if path != "end-node"] == [f"n{k}" for k in range(6)]


def test_what_waits_for_a_place_says_so() -> None:
    work = task("work")
    wf = program([graph("wf", [node("n0", work.id), node("n1", work.id), gate("n2", approve("go"))])], [work])
    lines = {line.path: line.what for line in waiting(Simulation(wf, rules=_rules(1)).state)}
    assert lines["n1"] == "a free place: 1 of this execution's nodes run, as many as max_parallelism allows"
    assert lines["n2"] == "the approval 'go'"


def test_the_launch_plan_says_over_the_platform_and_the_submission_over_both() -> None:
    work = task("work")
    wf = graph("wf", [node(f"n{k}", work.id) for k in range(8)])
    standing = structs.replace(plan("plan", wf), overrides=Overrides(max_parallelism=3))
    whole = program([wf], [work], [standing])

    def at_once(world: Simulation) -> int:
        return sum(map(takes_place, world.nodes().values()))

    assert at_once(Simulation(whole, lambda key: "hang", entity=wf.id, rules=_rules(5))) == 5
    assert at_once(Simulation(whole, lambda key: "hang", entity=standing.id, rules=_rules(5))) == 3
    assert at_once(Simulation(whole, lambda key: "hang", entity=wf.id, rules=_rules(0))) == 8
    assert at_once(Simulation(whole, lambda key: "hang", entity=wf.id)) == 8
    assert RULES.executions.max_parallelism == 25
