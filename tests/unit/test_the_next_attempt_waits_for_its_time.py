"""Back-off between attempts: of tasks, map elements and composite nodes; crashes and aborts while they wait."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.machine.draft import Rules
from engine.model.effects import RunElement, RunTask
from engine.model.errors import Failure
from engine.model.events import AbortRequested, TimerFired
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey
from engine.model.limits import ArrayLimits, RetryLimits
from engine.model.phases import NodePhase
from engine.model.state import Node
from handlers.registry import default_handlers
from tests.programs import chain, graph, mapped, node, program, task
from tests.simulation import EXECUTION, Script, Simulation, lost, recoverable, user_error

WORK = task("work")
SLOW = Rules(
    default_handlers(), RetryLimits(user_wait_seconds=100.0, max_wait_seconds=1000.0, jitter=0.0), ArrayLimits()
)


def again(failures: int, failure: Failure, path: str = "n0") -> Script:
    return lambda key: failure if key.path == path and key.attempt < failures else None


def waits(world: Simulation) -> Simulation:
    """Until nothing happens but a timer."""
    while world.waiting:
        world.deliver()
    return world


def starts(world: Simulation, path: str = "n0") -> list[float]:
    """When its attempts were queued, in seconds after the first."""
    times = [fact.at for fact in world.facts if fact.path == path and fact.phase == "QUEUED"]
    return [at - times[0] for at in times]


def test_a_task_is_retryable_until_its_time_has_come() -> None:
    world = waits(Simulation(chain(1, retries=2), again(2, recoverable()), rules=SLOW))
    first = world.nodes()["n0"]
    assert (first.phase, first.attempt, first.wake_at) == (NodePhase.RETRYABLE_FAILURE, 0, world.now + 100)
    assert first.error == recoverable().at("n0")
    world.tick()
    waits(world)
    second = world.nodes()["n0"]
    assert (second.phase, second.attempt, second.wake_at) == (NodePhase.RETRYABLE_FAILURE, 1, world.now + 200)
    done = world.run().nodes()["n0"]
    assert (done.phase, done.attempt, done.wake_at, done.error) == (NodePhase.SUCCEEDED, 2, 0.0, None)


def test_by_default_only_repeated_system_failures_wait() -> None:
    user = Simulation(chain(1, retries=3), again(3, recoverable())).run()
    assert max(starts(user)) < 30
    system = Simulation(chain(1), again(3, lost()), rules=Rules(default_handlers(), RetryLimits(), ArrayLimits())).run()
    gaps = [after - before for before, after in zip(starts(system), starts(system)[1:], strict=False)]
    assert len(gaps) == 3
    # Each delivery of the simulation takes a second: two of them, and the wait of 0, 1 and 2 s with its jitter.
    assert 2 <= gaps[0] < 2.5 < 2.8 <= gaps[1] <= 4.2 < gaps[2] <= 5.4


def test_a_timer_that_fires_early_late_or_twice_starts_one_attempt() -> None:
    world = waits(Simulation(chain(1, retries=1), again(1, recoverable()), rules=SLOW))
    key, at = AttemptKey(EXECUTION, "n0"), world.nodes()["n0"].wake_at
    for stale in (TimerFired(key, at - 1), TimerFired(AttemptKey(EXECUTION, "n0", 1), at)):
        step = world.apply(stale)
        assert step is not None
        assert step.stale
    world.apply(TimerFired(key, at))
    world.apply(TimerFired(key, at))
    world.run()
    assert dict(world.started) == {key: 1, AttemptKey(EXECUTION, "n0", 1): 1}


def test_a_crash_while_it_waits_changes_nothing() -> None:
    world = waits(Simulation(chain(1, retries=1), again(1, recoverable()), rules=SLOW))
    before = world.nodes()["n0"]
    world.resume()
    assert world.nodes()["n0"] == before
    assert not world.waiting
    world.run()
    assert world.nodes()["n0"].phase is NodePhase.SUCCEEDED
    assert set(world.started.values()) == {1}


def test_an_abort_while_it_waits_ends_it_at_once() -> None:
    world = waits(Simulation(chain(1, retries=1), again(1, recoverable()), rules=SLOW))
    world.apply(AbortRequested(EXECUTION, "enough"))
    assert world.state.record.phase.value == "ABORTED"
    assert [fact.phase for fact in world.facts if fact.path == "n0"][-3:] == [
        "RETRYABLE_FAILURE",
        "ABORTING",
        "ABORTED",
    ]


MAP = mapped(WORK)


def many() -> Program:
    return program([graph("wf", [node("n0", MAP.id, array=ArraySpec(), retries=2)])], [WORK, MAP])


def elements(node: Node) -> dict[int, float]:
    assert node.elements is not None
    return node.elements.waiting


def flaky(*indexes: int) -> Script:
    return lambda key: recoverable() if key.index in indexes and key.attempt < 2 else None


def test_each_element_waits_for_its_own_time() -> None:
    world = waits(Simulation(many(), flaky(1, 3), size=5, rules=SLOW))
    found = world.nodes()["n0"]
    assert world.element_phases("n0") == [
        "SUCCEEDED",
        "RETRYABLE_FAILURE",
        "SUCCEEDED",
        "RETRYABLE_FAILURE",
        "SUCCEEDED",
    ]
    assert set(elements(found)) == {1, 3}
    assert found.wake_at == min(elements(found).values())
    assert found.elements is not None
    assert found.elements.live == 2
    world.run()
    done = world.nodes()["n0"]
    assert (done.phase, elements(done), done.wake_at) == (NodePhase.SUCCEEDED, {}, 0.0)
    assert sum(world.started.values()) == 9
    assert set(world.started.values()) == {1}


def test_one_timer_serves_all_that_are_due() -> None:
    world = waits(Simulation(many(), flaky(0, 1, 2), size=3, rules=SLOW))
    last = max(elements(world.nodes()["n0"]).values())
    world.now = last
    step = world.apply(TimerFired(AttemptKey(EXECUTION, "n0"), world.nodes()["n0"].wake_at))
    assert step is not None
    assert [effect.key.index for effect in step.effects] == [0, 1, 2]


def test_a_map_that_fails_leaves_no_element_waiting() -> None:
    def script(key: AttemptKey) -> Failure | None:
        return recoverable() if key.index == 0 else user_error() if key.index == 2 else None

    world = Simulation(many(), script, size=3, rules=SLOW).run()
    assert world.nodes()["n0"].phase is NodePhase.FAILED
    assert world.element_phases("n0") == ["ABORTED", "SUCCEEDED", "FAILED"]
    assert (elements(world.nodes()["n0"]), world.now < 1100) == ({}, True)


@pytest.mark.parametrize("hanging", [(), (1,)])
def test_an_abort_leaves_no_element_waiting(hanging: tuple[int, ...]) -> None:
    script: Script = lambda key: (  # noqa: E731
        recoverable() if key.index == 0 else "hang" if key.index in hanging else None
    )
    world = waits(Simulation(many(), script, size=2, rules=SLOW))
    world.apply(AbortRequested(EXECUTION, "enough"))
    world.run()
    assert world.state.record.phase.value == "ABORTED"
    assert world.element_phases("n0") == ["ABORTED", "ABORTED" if hanging else "SUCCEEDED"]
    assert elements(world.nodes()["n0"]) == {}


def test_a_crash_while_elements_wait() -> None:
    world = waits(Simulation(many(), flaky(1, 3), size=5, rules=SLOW))
    world.resume()
    assert not world.waiting
    world.run()
    assert world.state.record.phase.value == "SUCCEEDED"
    assert set(world.started.values()) == {1}


def test_interruptible_attempts_end_on_regular_capacity() -> None:
    """Scenarios 5 and 6 of the behaviour reference, for a task and for an element: only system failures count."""
    lone = structs.replace(node("n0", WORK.id, retries=2), interruptible=True)
    array = structs.replace(node("n1", MAP.id, array=ArraySpec()), interruptible=True)
    world = Simulation(
        program([graph("wf", [lone, array])], [WORK, MAP]), lambda key: lost() if key.attempt < 3 else None, size=1
    ).run()
    runs = [effect for effect in world.effects if isinstance(effect, RunTask | RunElement)]
    assert [run.interruptible for run in runs if run.key.path == "n0"] == [True, True, True, False]
    assert [run.interruptible for run in runs if run.key.path == "n1"] == [True, True, True, False]
    users = Simulation(program([graph("wf", [lone])], [WORK]), again(9, recoverable())).run()
    assert [run.interruptible for run in users.effects if isinstance(run, RunTask)] == [True, True, True]
