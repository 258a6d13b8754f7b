"""Whatever happened, in whatever order: recorded events give the recorded history again; changed ones do not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.machine.rerun import Difference, Rerun
from engine.model.errors import Failure
from engine.model.events import AbortRequested, AttemptSucceeded, Event, NodeRetryRequested, SignalSet
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey
from engine.model.state import Fact, Snapshot
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
        node("n4", work.id),
        node("n5", work.id, after=["n4"]),
    ]
    policy = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    return program([graph("outer", nodes, policy=policy), inner, child], [work, many], [child_plan])


PROGRAM = _of_all_kinds()


def replayed(
    world: Simulation, events: list[Event] | None = None, facts: list[Fact] | None = None
) -> Difference | None:
    mine = [event for event in world.applied if event.execution == EXECUTION] if events is None else events
    recorded = [fact for fact in world.facts if fact.execution == EXECUTION] if facts is None else facts
    rerun = Rerun(PROGRAM, {}, None, recorded, world.rules)
    rerun.take(enumerate(mine, 1))
    return rerun.finish(Snapshot(world.state.record, tuple(world.nodes().values())))


def _fails(fates: dict[str, str], key: AttemptKey) -> Failure | None:
    fate = fates.get(key.path, "fine")
    if fate == "broken":
        return user_error()
    return recoverable() if fate == "again" and key.attempt == 0 else None


def _play(fates: dict[str, str], actions: list[int]) -> Simulation:
    world = Simulation(PROGRAM, lambda key: _fails(fates, key), size=5)
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
            case 95:
                world.apply(NodeRetryRequested(EXECUTION, "n4"))
            case _ if world.waiting:
                world.deliver(action)
    return world


fates = st.dictionaries(st.sampled_from(["n2", "n4", "n0/0/n0"]), st.sampled_from(["fine", "again", "broken"]))
actions = st.lists(st.integers(0, 99), max_size=80)


@given(fates=fates, actions=actions)
@settings(max_examples=150, deadline=None)
def test_the_same_events_give_the_same_history(fates: dict[str, str], actions: list[int]) -> None:
    assert replayed(_play(fates, actions)) is None


def _run() -> Simulation:
    world = Simulation(PROGRAM, size=3).run()
    world.apply(SignalSet(EXECUTION, "go", "yes"))
    world.ring()
    world.run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert replayed(world) is None
    return world


def test_an_event_that_is_missing_is_noticed_at_the_next_one() -> None:
    world = _run()
    mine = [event for event in world.applied if event.execution == EXECUTION]
    ended = next(event for event in mine if isinstance(event, AttemptSucceeded) and event.key.path == "n4")
    found = replayed(world, [event for event in mine if event is not ended])
    assert found is not None
    assert found.recorded == "node n4, attempt 0: SUCCEEDED"


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
