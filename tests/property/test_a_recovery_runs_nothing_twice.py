"""Whatever failed, in whatever order, with crashes: a recovery ends well, and what had succeeded does not run again."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.machine import arrays
from engine.machine.execution import ExecutionState, past
from engine.model.events import ExecutionSubmitted, SignalSet
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import NodePhase
from tests.property.kinds import World
from tests.property.test_every_committed_state_keeps_the_invariants import next_event, problems
from tests.simulation import EXECUTION

AGAIN = ExecutionId("p", "d", "e2")
PLACES = ["n2", "n0/0/n0[3]", "n4", "n4/0/dn0", "n5/0/n0", "n0/0/n0[0]", "n1 > n0", "n6[1] > n0"]
CLEAN_UP = "fn0"


class Recovering(World):
    def place(self, key: AttemptKey) -> str:
        """Of an attempt, whatever its number and its execution: `n0/0/n0[3]`, `n1 > n0`."""
        parts = key.path.split("/")
        parts[1::2] = ["0"] * len(parts[1::2])
        here = "/".join(parts) + ("" if key.index is None else f"[{key.index}]")
        parent = self.states[key.execution].record.parent if key.execution in self.states else None
        return f"{self.place(parent)} > {here}" if parent else here

    def top(self, execution: ExecutionId) -> ExecutionId:
        parent = self.states[execution].record.parent
        return self.top(parent.execution) if parent else execution

    def succeeded(self, top: ExecutionId) -> set[str]:
        """Tasks and elements that have succeeded in an execution and below it, as of the last attempts."""
        return {
            self.place(key)
            for state in self.states.values()
            if self.top(state.record.id) == top and self._counts(state)
            for key in _succeeded(state)
        }

    def _counts(self, state: ExecutionState) -> bool:
        """Whether it is the child of an attempt that was not followed by another one."""
        parent = state.record.parent
        if parent is None:
            return True
        above = self.states[parent.execution]
        node = above.nodes[parent.path]
        elements = node.elements
        if past(above, parent.path) or not self._counts(above):
            return False
        if parent.index is None or elements is None:
            return node.attempt == parent.attempt
        return (node.attempt, arrays.attempt_of(elements, parent.index)) == (parent.node_attempt, parent.attempt)

    def end(self, execution: ExecutionId) -> str:
        """Everything happens that can, and every gate is answered."""
        while not self.states[execution].record.terminal:
            self.apply(SignalSet(execution, "go", "yes"))
            self.run()
            if not self.states[execution].record.terminal and not self.waiting:
                self.ring(execution)
        return self.states[execution].record.phase.value


def _succeeded(state: ExecutionState) -> Iterator[AttemptKey]:
    for path, node in state.nodes.items():
        if CLEAN_UP in path or past(state, path):
            continue
        if node.kind is NodeKind.TASK and node.phase is NodePhase.SUCCEEDED and not node.plan:
            yield state.record.key(path, node.attempt)
        elif node.kind is NodeKind.ARRAY and node.elements is not None:
            for index in arrays.in_phase(node.elements, NodePhase.SUCCEEDED):
                yield state.record.element_key(path, node.attempt, index, 0)


@given(
    fates=st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["again", "broken"]), min_size=1, max_size=3),
    before=st.lists(st.integers(0, 99), max_size=60),
    after=st.lists(st.integers(0, 99), max_size=60),
)
@settings(max_examples=200, deadline=None)
def test_whatever_had_failed(fates: dict[str, str], before: list[int], after: list[int]) -> None:
    world = Recovering(fates)
    for action in before:
        world.act(action)
    assume(world.end(EXECUTION) != "SUCCEEDED")
    done = world.succeeded(EXECUTION)
    world.started.clear()
    world.fates = {}

    record = world.state.record
    world.apply(ExecutionSubmitted(AGAIN, record.entity, "digest", record.inputs_uri, recovers=EXECUTION))
    for action in after:
        if action == 99:
            world.resume()
        elif world.waiting:
            world.deliver(next_event(world, action % len(world.waiting)))
        assert problems(world) == []
    assert world.end(AGAIN) == "SUCCEEDED"
    assert problems(world) == []
    again = {world.place(key) for key in world.started if world.top(key.execution) == AGAIN}
    assert not again & done
    assert set(world.started.values()) <= {1}
