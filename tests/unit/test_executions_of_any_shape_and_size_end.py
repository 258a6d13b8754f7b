"""Long, wide and deep: no recursion, and no step whose cost grows with the square of the size."""

from __future__ import annotations

from engine.machine import step
from engine.machine.draft import Rules
from engine.model.events import AbortRequested, AttemptStopped
from engine.model.graph import NodeSpec, Program
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from handlers.registry import default_handlers
from tests.lines import lines_of
from tests.programs import branch, chain, graph, node, program, task
from tests.simulation import EXECUTION, Simulation, user_error

WORK = task("work")
UNBOUNDED = Rules(default_handlers(), RetryLimits(), ArrayLimits(), ExecutionLimits(max_parallelism=0))


def test_a_chain_of_two_thousand() -> None:
    world = Simulation(chain(2000)).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    failing = Simulation(chain(2000), lambda key: user_error() if key.path == "n0" else None).run()
    assert failing.state.record.phase.value == "FAILED"


def test_conditionals_inside_each_other() -> None:
    inner: NodeSpec = node("n0", WORK.id, after=["slow"])
    for _ in range(40):
        inner = branch("n0", {"n0": b"", "n1": b""}, [inner, node("n1", WORK.id)])
    world = Simulation(program([graph("wf", [node("slow", WORK.id), inner])], [WORK])).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert world.nodes()["/".join(["n0/0"] * 40) + "/n0"].phase.name == "SUCCEEDED"


def wide(width: int, each: int) -> Program:
    inner = graph("inner", [node(f"n{k}", WORK.id) for k in range(each)])
    return program([graph("wf", [node(f"n{k}", inner.id) for k in range(width)]), inner], [WORK])


def _stopping(width: int) -> int:
    """Lines of Python that stop everything in so many sub-workflows of ten tasks each."""
    world = Simulation(wide(width, 10), lambda key: "hang", rules=UNBOUNDED)
    while world.waiting:
        world.deliver(-1)
    state, rules = world.state, world.rules

    def stop() -> None:
        aborted = step.apply(state, AbortRequested(EXECUTION, "enough"), world.now, rules)
        state.absorb(aborted)
        for effect in aborted.effects:
            state.absorb(step.apply(state, AttemptStopped(effect.key), world.now, rules))

    lines = lines_of(stop)
    assert state.record.phase.value == "ABORTED"
    return lines


def test_ten_times_the_nodes_are_stopped_with_about_ten_times_the_work() -> None:
    """What grows with the square would take a hundred times as much."""
    assert _stopping(100) < 12 * _stopping(10)
