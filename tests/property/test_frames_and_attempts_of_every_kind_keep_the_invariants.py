"""Branches, clean-ups, retries of wholes, timeouts and waits, in any order, with repetitions, crashes and aborts.

After each step the checker's rules hold and history gives the states; in the end nothing is live, whatever happened,
and without an abort or an early timer the end does not depend on the order of events.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.machine.draft import Rules
from engine.machine.execution import past
from engine.model.errors import Failure
from engine.model.events import AbortRequested
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey, split
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from handlers.registry import default_handlers
from tests.programs import branch, graph, mapped, node, plan, program, task
from tests.property.test_every_committed_state_keeps_the_invariants import IN_ORDER, next_event, problems
from tests.simulation import EXECUTION, Simulation, lost, recoverable, user_error

WORK = task("work")
RULES = Rules(
    default_handlers(),
    RetryLimits(user_wait_seconds=20.0),
    ArrayLimits(),
    ExecutionLimits(max_parallelism=3),
)
SLOW = 90.0
"""Of a sub-workflow: what hangs in it is stopped then."""


def mixture(policy: FailurePolicy) -> Program:
    """first, beside slow and a map -> a conditional in a conditional: a sub-workflow with a clean-up, tried again as a
    whole, or a launch plan likewise -> last. A clean-up of two nodes for the whole."""
    many = mapped(WORK)
    inner = graph("inner", [node("i0", WORK.id), node("i1", WORK.id)], failure=node("ifn", WORK.id, retries=1))
    child = graph("child", [node("c0", WORK.id)], failure=node("cfn", WORK.id))
    each = plan("each", child)
    cleanup = graph("cleanup", [node("k0", WORK.id), node("k1", WORK.id, after=["k0"])])
    nested = branch(
        "b1",
        {"s": b"", "lp": b""},
        [
            node("s", inner.id, retries=1, timeout=SLOW, after=["slow"]),
            node("lp", each.id, retries=1, timeout=SLOW),
        ],
    )
    nodes = [
        node("first", WORK.id, retries=1),
        node("slow", WORK.id),
        node("map", many.id, array=ArraySpec(parallelism=2), retries=1),
        branch("b0", {"b1": b"", "t": b""}, [nested, node("t", WORK.id, after=["first", "slow"])], after=["first"]),
        node("last", WORK.id, after=["b0", "map"]),
    ]
    main = graph("main", nodes, failure=node("fn", cleanup.id, retries=1), policy=policy)
    return program([main, inner, child, cleanup], [WORK, many], [each])


PROGRAMS = {policy: mixture(policy) for policy in FailurePolicy}
PLACES = [
    "first",
    "slow",
    "map[0]",
    "map[2]",
    "b0/0/t",
    "b0/0/b1/0/s/0/i0",
    "b0/0/b1/0/s/0/i1",
    "b0/0/b1/0/s/1/i0",
    "b0/0/b1/0/s/0/ifn",
    "c0",
    "cfn",
    "last",
    "fn/0/k0",
    "fn/1/k1",
]
"""Of attempts; those of child executions by their own path, whatever the child."""
fates = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["again", "broken", "lost", "hangs"]), max_size=4)
choices = st.fixed_dictionaries({}, optional={"b0": st.just("t"), "b0/0/b1": st.just("lp")})
HANGING = {place for place in PLACES if place.endswith(("/i0", "/i1")) or place == "c0"}
"""Only what has a timeout around it may hang, else nothing would end; a clean-up runs after that."""


class World(Simulation):
    def __init__(self, policy: FailurePolicy, fates: dict[str, str], choices: dict[str, str]) -> None:
        self.fates = fates
        super().__init__(PROGRAMS[policy], self.outcome, size=3, choices=choices, rules=RULES)

    def outcome(self, key: AttemptKey) -> Failure | str | None:
        place = key.path if key.index is None else f"{key.path}[{key.index}]"
        match self.fates.get(place):
            case "broken":
                return user_error(place)
            case "hangs" if place in HANGING:
                return "hang"
            case "again" if key.attempt == 0:
                return recoverable(place)
            case "lost" if key.attempt < 2:
                return lost(place)
        return None

    def end(self) -> object:
        """All that must not depend on the order; what a failure stopped does, and how far it had come."""
        if self.state.record.phase.value != "SUCCEEDED":
            return self.state.record.phase
        return {path: phase for path, phase in self.phases().items() if not past(self.state, path)}


def check(world: World) -> None:
    assert problems(world) == []
    for state in world.states.values():
        counted = Counter(split(path)[0] for path in state.live)
        assert {prefix: number for prefix, number in state.crowds.items() if number} == counted


@given(
    policy=st.sampled_from(FailurePolicy),
    fates=fates,
    choices=choices,
    actions=st.lists(st.integers(0, 99), max_size=120),
)
@settings(max_examples=250, deadline=None)
def test_after_every_step(
    policy: FailurePolicy, fates: dict[str, str], choices: dict[str, str], actions: list[int]
) -> None:
    world, disturbed = World(policy, fates, choices), False
    for action in actions:
        if action == 99:
            world.resume()
        elif action == 98:
            disturbed = True
            world.apply(AbortRequested(EXECUTION, "enough"))
        elif action > 93:
            # A timer that comes before what it was to wait for: a timeout of what was only slow.
            disturbed = world.tick() or disturbed
        elif world.waiting:
            number = next_event(world, action % len(world.waiting))
            world.deliver(number, keep=action % 7 == 0 and not isinstance(world.waiting[number], IN_ORDER))
        check(world)
    while world.waiting or world.tick():
        world.deliver()
        check(world)
    assert all(state.record.terminal and not state.live for state in world.states.values())
    assert not world.alive
    if not disturbed:
        expected = World(policy, fates, choices).run()
        assert isinstance(expected, World)
        assert world.end() == expected.end()
    assert world.nodes()["b0"].choice in ("", choices.get("b0", "b1")) if "b0" in world.nodes() else True


@given(policy=st.sampled_from(FailurePolicy), choices=choices)
@settings(max_examples=12, deadline=None)
def test_without_trouble_each_attempt_is_made_once(policy: FailurePolicy, choices: dict[str, str]) -> None:
    world = World(policy, {}, choices).run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert set(world.started.values()) == {1}
    assert not [path for path in world.nodes() if path.startswith("fn")]
    arm = choices.get("b0", "b1")
    assert world.phases()[f"b0/0/{arm}"] == "SUCCEEDED"
    assert world.phases()[f"b0/0/{'t' if arm == 'b1' else 'b1'}"] == "SKIPPED"
