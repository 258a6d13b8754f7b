"""User case S06: signals early, late, repeated or of a wrong type, in any order and with crashes, end in one state."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.events import SignalSet
from engine.model.graph import Program
from tests.programs import approve, gate, graph, node, program, promise, sleep, task, wait_for_input
from tests.property.test_every_committed_state_keeps_the_invariants import problems
from tests.simulation import EXECUTION, Simulation

ANSWERS = [SignalSet(EXECUTION, "go", "yes"), SignalSet(EXECUTION, "number", "seven")]
WRONG = SignalSet(EXECUTION, "number", "bad text")


def _gates() -> Program:
    """Two gates of the id "go", one of them in a sub-workflow behind a task; one that waits for a number; a sleep."""
    work = task("work")
    inner = graph(
        "inner", [node("n0", work.id), gate("n1", approve("go"), after=["n0"], bindings=[promise("v", "n0")])]
    )
    nodes = [
        gate("n0", approve("go")),
        node("n1", inner.id),
        gate("n2", wait_for_input("number"), after=["n0"], timeout=3600.0),
        gate("n3", sleep(5.0), after=["n2"]),
        node("n4", work.id, after=["n1", "n3"]),
    ]
    return program([graph("wf", nodes), inner], [work])


@given(actions=st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=60))
@settings(max_examples=200, deadline=None)
def test_every_order_ends_in_success(actions: list[tuple[int, bool]]) -> None:
    world = Simulation(_gates())
    for number, again in actions:
        if number == 40:
            world.resume()
        elif number >= 37:
            world.apply([*ANSWERS, WRONG][number - 37])
        elif number == 36 and "n3" in world.nodes() and world.nodes()["n3"].live:
            world.ring()
        elif world.waiting:
            world.deliver(number, keep=again)
        assert problems(world) == []
    while world.waiting or not world.state.record.terminal:
        if world.waiting:
            world.deliver()
        elif "n3" in world.nodes() and world.nodes()["n3"].live:
            world.ring()
        else:
            for answer in ANSWERS:
                world.apply(answer)
        assert problems(world) == []

    assert world.state.record.phase.value == "SUCCEEDED"
    gates = {path: node.outputs_uri for path, node in world.nodes().items() if node.kind.value == "gate"}
    assert gates == {"n0": "yes", "n1/0/n1": "yes", "n2": "seven", "n3": ""}
    assert set(world.started.values()) == {1}
    assert world.state.record.signals == {"go": "yes", "number": "seven"}
