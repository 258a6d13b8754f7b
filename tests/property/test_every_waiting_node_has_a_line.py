"""One line for every node that does not move, in every state that can be reached: what it waits for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.machine.execution import ExecutionState, open_frames, startable
from engine.machine.waiting import waiting
from engine.model.errors import Failure
from engine.model.events import AbortRequested, SignalSet
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey, join
from tests.programs import approve, gate, graph, mapped, node, plan, program, sleep, task
from tests.simulation import EXECUTION, Simulation, recoverable, user_error


def _of_all_kinds() -> Program:
    work = task("work")
    many = mapped(work)
    inner = graph("inner", [node("n0", many.id, array=ArraySpec(parallelism=2), retries=1), gate("n1", approve("go"))])
    child = graph("child", [node("n0", work.id)])
    child_plan = plan("child_plan", child)
    nodes = [
        node("n0", inner.id),
        node("n1", child_plan.id),
        node("n2", work.id, after=["n0", "n1"], retries=1),
        gate("n3", sleep(9.0), after=["n1"]),
    ]
    return program([graph("outer", nodes), inner, child], [work, many], [child_plan])


PROGRAM = _of_all_kinds()


def _fails(fates: dict[str, str], key: AttemptKey) -> Failure | None:
    fate = fates.get(key.path, "fine")
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
    fates=st.dictionaries(st.sampled_from(["n2", "n0/0/n0"]), st.sampled_from(["fine", "again", "broken"])),
    actions=st.lists(st.integers(0, 99), max_size=80),
)
@settings(max_examples=150, deadline=None)
def test_in_every_reachable_state(fates: dict[str, str], actions: list[int]) -> None:
    world = Simulation(PROGRAM, lambda key: _fails(fates, key), size=5)
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
                world.deliver(action)
        _check(world)
