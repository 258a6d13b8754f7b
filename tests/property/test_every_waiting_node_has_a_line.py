"""One line for every node that does not move, in every state that can be reached: what it waits for."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.machine.execution import ExecutionState, open_frames, startable
from engine.machine.waiting import waiting
from engine.model.errors import Failure
from engine.model.events import AbortRequested, SignalSet
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey, join
from engine.model.limits import ExecutionLimits, RetryLimits
from tests.programs import approve, branch, gate, graph, mapped, node, plan, program, sleep, task, workflow_id
from tests.property.test_every_committed_state_keeps_the_invariants import next_event
from tests.simulation import EXECUTION, RULES, Simulation, recoverable, user_error


def _of_all_kinds() -> tuple[Program, Program]:
    """Every kind of node, some inside each other, with retries, waits, timeouts and a clean-up; and a plan."""
    work, dynamic, clean = task("work"), task("dynamic"), task("clean")
    many = mapped(work)
    inner = graph(
        "inner",
        [node("n0", many.id, array=ArraySpec(parallelism=2), retries=1), gate("n1", approve("go"), timeout=90.0)],
        failure=node("fn0", clean.id),
    )
    child = graph("child", [node("n0", work.id)])
    child_plan = plan("child_plan", child)
    arms = [node("n0", work.id, after=["n1"]), gate("n1", approve("go"), after=["n4"])]
    nodes = [
        node("n0", inner.id, retries=1, timeout=500.0),
        node("n1", child_plan.id),
        node("n2", work.id, after=["n0", "n1"], retries=1),
        gate("n3", sleep(9.0), after=["n1"]),
        node("n4", dynamic.id, retries=1),
        branch("n5", {"n0": b"c", "n1": b""}, arms),
        node("n6", child_plan.id, array=ArraySpec(parallelism=1), after=["n5"]),
    ]
    whole = program([graph("outer", nodes, failure=node("fn0", clean.id)), inner, child], [work, dynamic, clean, many])
    planned = program([graph("planned", [node("dn0", work.id), gate("dn1", approve("go"), after=["dn0"])])], [work])
    plans = {child_plan.id: child_plan}
    return structs.replace(whole, launch_plans=plans), structs.replace(planned, root=workflow_id("planned"))


PROGRAM, PLANNED = _of_all_kinds()
PLACES = ["n2", "n0/0/n0", "n4", "n4/0/dn0", "n5/0/n0", "n0"]
RULES_WITH_WAITS = replace(RULES, retries=RetryLimits(user_wait_seconds=5.0), executions=ExecutionLimits(4))


def _fails(fates: dict[str, str], key: AttemptKey) -> Failure | str | None:
    fate = fates.get(key.path, "fine")
    if key.path == "n4" and fate == "fine":
        return "plan:planned"
    if fate == "broken":
        return user_error()
    return recoverable() if fate == "again" and key.attempt == 0 else None


def _expected(state: ExecutionState) -> set[str]:
    """Every live node, and every node of an open frame that has not begun."""
    if state.record.terminal:
        return set()
    fresh = {join(prefix, node_id) for prefix in open_frames(state) for node_id in startable(state, prefix)}
    return set(state.live) | (fresh - state.nodes.keys())


def _check(world: Simulation) -> None:
    for state in world.states.values():
        lines = list(waiting(state))
        assert {line.path for line in lines} == _expected(state)
        assert len(lines) == len({line.path for line in lines})
        for line in lines:
            assert line.what.strip()
            assert state.record.terminal is False


@given(
    fates=st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["fine", "again", "broken"])),
    actions=st.lists(st.integers(0, 99), max_size=80),
)
@settings(max_examples=150, deadline=None)
def test_in_every_reachable_state(fates: dict[str, str], actions: list[int]) -> None:
    world = Simulation(PROGRAM, lambda key: _fails(fates, key), size=5, rules=RULES_WITH_WAITS)
    world.plans = {"planned": PLANNED}
    _check(world)
    for action in actions:
        match action:
            case 99:
                world.resume()
            case 98:
                world.apply(AbortRequested(EXECUTION, "enough"))
            case 97:
                world.apply(SignalSet(EXECUTION, "go", "yes"))
            case 96 if any(world.nodes()[path].wake_at for path in world.state.live):
                world.ring()
            case _ if world.waiting:
                world.deliver(next_event(world, action % len(world.waiting)))
        _check(world)
