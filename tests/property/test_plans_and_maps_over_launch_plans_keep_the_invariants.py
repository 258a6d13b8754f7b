"""Dynamic tasks and maps over launch plans, in any order, with repetitions, crashes and an abort: nothing is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.model.errors import Failure
from engine.model.events import AbortRequested
from engine.model.graph import ArraySpec, Graph, Program
from engine.model.ids import AttemptKey
from tests.programs import graph, mapped, node, plan, program, task
from tests.property.test_every_committed_state_keeps_the_invariants import IN_ORDER, next_event, problems
from tests.simulation import EXECUTION, Simulation, recoverable, user_error

WORK, DYNAMIC = task("work"), task("dyn")
MANY = mapped(WORK)
CHILD = graph("child", [node("c0", WORK.id)])
PLAN = plan("each", CHILD)


def planned(digest: str, flow: Graph, *more: Graph) -> Program:
    return structs.replace(program([flow, *more], [WORK, DYNAMIC, MANY], [PLAN]), digest=digest, root=flow.id)


INSIDE = graph("inside", [node("dn0", WORK.id)])
OUTER_PLAN = planned(
    "outer",
    graph(
        "dyn",
        [
            node("dn0", WORK.id, retries=1),
            node("dn1", DYNAMIC.id, after=["dn0"]),
            node("dn2", INSIDE.id),
            node("dn3", MANY.id, array=ArraySpec(parallelism=2), after=["dn2"]),
        ],
    ),
    INSIDE,
)
INNER_PLAN = planned("inner", graph("dyn", [node("dn0", PLAN.id), node("dn1", WORK.id, after=["dn0"])]))
FLOW = program(
    [
        graph(
            "outer",
            [
                node("n0", DYNAMIC.id, retries=1),
                node("n1", PLAN.id, array=ArraySpec(original_interface=True, parallelism=2, min_success_ratio=0.6)),
                node("n2", WORK.id, after=["n0", "n1"]),
            ],
        ),
        CHILD,
    ],
    [WORK, DYNAMIC],
    [PLAN],
)
PLACES = [
    "n0",
    "n0/0/dn0",
    "n0/0/dn1",
    "n0/0/dn2/0/dn0",
    "n0/0/dn3[1]",
    "n0/0/dn1/0/dn1",
    "c0 of n1",
    "c0 of dn0",
    "n2",
]
fates = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["again", "broken"]), max_size=2)


class World(Simulation):
    """A child's task fails where the fate of what started the child says so; of a map's children the second does."""

    def __init__(self, fates: dict[str, str]) -> None:
        super().__init__(FLOW, lambda key: self.outcome(key, fates), size=3)
        self.plans = {"outer": OUTER_PLAN, "inner": INNER_PLAN}

    def outcome(self, key: AttemptKey, fates: dict[str, str]) -> Failure | str | None:
        fate = fates.get(self.place(key), "fine")
        if fate == "broken":
            return user_error()
        if fate == "again" and key.attempt == 0:
            return recoverable()
        if key.path == "n0":
            return "plan:outer"
        return "plan:inner" if key.path.endswith("/dn1") and key.path.count("/") == 2 else None

    def place(self, key: AttemptKey) -> str:
        if key.execution == EXECUTION:
            return key.path if key.index is None else f"{key.path}[{key.index}]"
        parent = self.states[key.execution].record.parent
        assert parent is not None
        return f"{key.path} of {parent.path.rpartition('/')[2]}" if parent.index in (None, 1) else "elsewhere"


@given(fates=fates, actions=st.lists(st.integers(0, 99), max_size=120))
@settings(max_examples=150, deadline=None)
def test_after_every_step(fates: dict[str, str], actions: list[int]) -> None:
    world, aborted = World(fates), False
    for action in actions:
        if action == 99:
            world.resume()
        elif action == 98:
            aborted = True
            world.apply(AbortRequested(EXECUTION, "enough"))
        elif world.waiting:
            number = next_event(world, action % len(world.waiting))
            world.deliver(number, keep=action % 7 == 0 and not isinstance(world.waiting[number], IN_ORDER))
        assert problems(world) == []
    while world.waiting:
        world.deliver()
        assert problems(world) == []
    assert all(state.record.terminal for state in world.states.values())
    if not aborted:
        assert world.state.record.phase.value == right_end(fates)
    generators = {key: count for key, count in world.started.items() if key.path in ("n0", "n0/0/dn1")}
    assert set(generators.values()) <= {1}, "nobody is asked twice for a plan"


def right_end(fates: dict[str, str]) -> str:
    """One of three children may fail; retries are where the graphs say so, and n0 is tried again as a whole: what
    fails in its first graph (n0/0) does not in its second. A failure in a child is the parent's."""
    deadly = [place for place in ("n2", "c0 of dn0") if place in fates]
    return "FAILED" if deadly or fates.get("n0") == "broken" else "SUCCEEDED"


def test_without_trouble_everything_succeeds_once() -> None:
    world = World({}).run()
    assert world.phases() == {
        "n0": "SUCCEEDED",
        "n0/0/dn0": "SUCCEEDED",
        "n0/0/dn1": "SUCCEEDED",
        "n0/0/dn1/0/dn0": "SUCCEEDED",
        "n0/0/dn1/0/dn1": "SUCCEEDED",
        "n0/0/dn2": "SUCCEEDED",
        "n0/0/dn2/0/dn0": "SUCCEEDED",
        "n0/0/dn3": "SUCCEEDED",
        "n1": "SUCCEEDED",
        "n2": "SUCCEEDED",
    }
    assert set(world.started.values()) == {1}
    assert len(world.states) == 1 + 1 + 3
