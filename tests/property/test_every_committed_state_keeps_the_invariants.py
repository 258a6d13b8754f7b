"""Any order, repetition, crash or abort: after each step the checker's rules hold, and history gives the states."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.machine import step
from engine.machine.children import child_id, started
from engine.machine.execution import ExecutionState
from engine.machine.invariants import of_child, of_element_child, of_frames, of_snapshot
from engine.machine.replay import Problem, Replay
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AbortRequested, ChildEnded, ExecutionSubmitted
from engine.model.graph import ArraySpec, NodeKind, Program
from engine.model.ids import AttemptKey
from engine.model.phases import NodePhase
from engine.model.state import Snapshot
from tests.programs import graph, mapped, node, plan, program, task
from tests.simulation import EXECUTION, RULES, Simulation, recoverable, user_error


def everything() -> Program:
    """A map in a sub-workflow, beside a launch plan whose child runs a task; then a task."""
    work = task("work")
    many = mapped(work)
    inner = graph("inner", [node("n0", many.id, array=ArraySpec(parallelism=2), retries=1), node("n1", work.id)])
    child = graph("child", [node("n0", work.id)])
    child_plan = plan("child_plan", child)
    nodes = [node("n0", inner.id), node("n1", child_plan.id), node("n2", work.id, after=["n0", "n1"], retries=1)]
    return program([graph("outer", nodes), inner, child], [work, many], [child_plan])


PROGRAM = everything()


def problems(world: Simulation) -> list[Problem]:
    found: list[Problem] = []
    for execution, state in world.states.items():
        snapshot = Snapshot(state.record, tuple(state.nodes.values()))
        replay = Replay()
        replay.take(fact for fact in world.facts if fact.execution == execution)
        found += [*replay.against(snapshot), *of_snapshot(snapshot), *of_frames(state)]
        for one in snapshot.nodes:
            if one.kind is NodeKind.LAUNCH_PLAN:
                found += _child_problems(world, state, one.path)
            elif one.kind is NodeKind.ARRAY_OF_LAUNCH_PLANS:
                for key, phase in started(state.record, one):
                    child = world.states.get(child_id(key))
                    found += of_element_child(key, phase, child.record if child else None)
    return found


def _child_problems(world: Simulation, state: ExecutionState, path: str) -> list[Problem]:
    parent = state.nodes[path]
    key = child_id(state.record.key(path, parent.attempt))
    child = world.states.get(key)
    coming = any(
        (isinstance(event, ChildEnded) and event.child == key)
        or (isinstance(event, ExecutionSubmitted) and event.execution == key)
        for event in world.waiting
    )
    return list(of_child(parent, child.record if child else None, coming=coming, refused=False))


outcomes = st.sampled_from(["fine", "again", "broken"])


def script_of(fates: dict[str, str], key: AttemptKey) -> Failure | None:
    fate = fates.get(f"{key.path}[{key.index}]", "fine")
    if fate == "broken":
        return user_error()
    return recoverable() if fate == "again" and key.attempt == 0 else None


IN_ORDER = ExecutionSubmitted | ChildEnded | AbortRequested
"""Read once, in the order of the log; what effects find out may come in any order, and twice."""


def next_event(world: Simulation, number: int) -> int:
    if isinstance(world.waiting[number], IN_ORDER):
        return next(place for place, event in enumerate(world.waiting) if isinstance(event, IN_ORDER))
    return number


@given(
    fates=st.dictionaries(st.sampled_from(["n2[None]", "n0/0/n0[0]", "n0/0/n0[2]", "n0/0/n1[None]"]), outcomes),
    actions=st.lists(st.integers(0, 99), max_size=80),
)
@settings(max_examples=150, deadline=None)
def test_after_every_step(fates: dict[str, str], actions: list[int]) -> None:
    world = Simulation(PROGRAM, lambda key: script_of(fates, key), size=5)
    for action in actions:
        if action == 99:
            world.resume()
        elif action == 98:
            world.apply(AbortRequested(EXECUTION, "enough"))
        elif world.waiting:
            number = next_event(world, action % len(world.waiting))
            again = action % 7 == 0 and not isinstance(world.waiting[number], IN_ORDER)
            world.deliver(number, keep=again)
        assert problems(world) == []
    while world.waiting:
        world.deliver()
        assert problems(world) == []
    assert world.state.record.terminal


@pytest.mark.parametrize("steps", range(0, 16, 3))
def test_an_execution_that_is_given_up_has_nothing_live(steps: int) -> None:
    world = Simulation(PROGRAM, lambda key: None, size=5)
    for _ in range(steps):
        world.deliver()
    failure = Failure("IllegalStateError", ErrorKind.SYSTEM, "a defect")
    world._absorb(world.state, step.give_up(world.state, failure, world.now, RULES))
    assert world.state.record.phase.value == "FAILED"
    left = [found for found in problems(world) if "its child execution is" not in found.what]
    assert left == []
    elements = world.nodes()["n0/0/n0"].elements if "n0/0/n0" in world.nodes() else None
    assert elements is None or elements.live == 0
    assert NodePhase.ABORTED in {one.phase for one in world.nodes().values()}
