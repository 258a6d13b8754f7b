"""Whatever happened, in whatever order: recorded events give the recorded history again; changed ones do not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.machine.rerun import Difference, Rerun
from engine.model.events import AttemptSucceeded, Event, SignalSet
from engine.model.state import Fact, Snapshot
from tests.property.kinds import PLACES, PLANNED, PROGRAM, World
from tests.simulation import EXECUTION, user_error


def replayed(world: World, events: list[Event] | None = None, facts: list[Fact] | None = None) -> Difference | None:
    mine = [event for event in world.applied if event.execution == EXECUTION] if events is None else events
    recorded = [fact for fact in world.facts if fact.execution == EXECUTION] if facts is None else facts
    rerun = Rerun(PROGRAM, {"planned": PLANNED}, None, recorded, world.rules)
    rerun.take(enumerate(mine, 1))
    return rerun.finish(Snapshot(world.state.record, tuple(world.nodes().values())))


def _play(fates: dict[str, str], actions: list[int]) -> World:
    world = World(fates)
    for action in actions:
        world.act(action)
    return world


fates = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["fine", "again", "broken"]))
actions = st.lists(st.integers(0, 99), max_size=80)


@given(fates=fates, actions=actions)
@settings(max_examples=150, deadline=None)
def test_the_same_events_give_the_same_history(fates: dict[str, str], actions: list[int]) -> None:
    assert replayed(_play(fates, actions)) is None


def _run() -> World:
    world = World({})
    while not world.state.record.terminal:
        world.apply(SignalSet(EXECUTION, "go", "yes"))
        world.run()
        if not world.state.record.terminal:
            world.ring()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert replayed(world) is None
    return world


def test_an_event_that_is_missing_is_noticed_at_the_next_one() -> None:
    world = _run()
    mine = [event for event in world.applied if event.execution == EXECUTION]
    ended = next(event for event in mine if isinstance(event, AttemptSucceeded) and event.key.path == "n2")
    found = replayed(world, [event for event in mine if event is not ended])
    assert found is not None
    assert found.recorded == "node n2, attempt 0: SUCCEEDED"


def test_a_fact_that_was_changed_is_named_with_what_it_should_be() -> None:
    world = _run()
    recorded = [fact for fact in world.facts if fact.execution == EXECUTION]
    place = next(n for n, fact in enumerate(recorded) if fact.path == "n2" and fact.phase == "SUCCEEDED")
    recorded[place] = structs.replace(recorded[place], phase="FAILED", error=user_error())
    found = replayed(world, facts=recorded)
    assert found is not None
    assert found.what == f"fact {place + 1}"
    assert found.recorded == "node n2, attempt 0: FAILED, USER:RuntimeError: 'boom'"
    assert found.decided == "node n2, attempt 0: SUCCEEDED"


def test_a_state_that_was_changed_is_named() -> None:
    world = _run()
    world.state.nodes["n2"] = structs.replace(world.nodes()["n2"], outputs_uri="elsewhere")
    assert replayed(world) == Difference(
        0, "outputs_uri of node n2", "'elsewhere'", repr(f"out:{world.state.record.key('n2', 0)}")
    )
