"""One line for every node that does not move, in every state that can be reached: what it waits for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.machine.execution import ExecutionState, open_frames, startable
from engine.machine.waiting import waiting
from engine.model.ids import join
from tests.property.kinds import PLACES, World


def _expected(state: ExecutionState) -> set[str]:
    """Every live node, and every node of an open frame that has not begun."""
    if state.record.terminal:
        return set()
    fresh = {join(prefix, node_id) for prefix in open_frames(state) for node_id in startable(state, prefix)}
    return set(state.live) | (fresh - state.nodes.keys())


def _check(world: World) -> None:
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
    world = World(fates)
    _check(world)
    for action in actions:
        world.act(action)
        _check(world)
