"""Against the definition: a cycle is found if and only if some node can be reached from itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.wire.cycles import cycles

NAMES = st.integers(0, 8)
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=4), max_size=9)


def reach(needs: dict[int, list[int]], start: int) -> set[int]:
    found: set[int] = set()
    waiting = list(needs.get(start, []))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needs.get(name, [])
    return found


@given(GRAPHS)
def test_found_where_there_is_one(needs: dict[int, list[int]]) -> None:
    in_a_cycle = {name for name in needs if name in reach(needs, name)}
    found = list(cycles(needs))
    assert bool(found) == bool(in_a_cycle)
    for cycle in found:
        assert all(after in needs[before] for before, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    members = [name for cycle in found for name in cycle]
    assert len(members) == len(set(members))
