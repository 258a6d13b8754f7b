"""A start waits a moment: a success that follows at once stands for both, and history has them all the same."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from engine.adapters.memory.scripts import copies, exits, takes
from engine.loop.outbox import PATIENCE_SECONDS, Outbox
from engine.model.cache import CacheStatus
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AttemptFailed, AttemptStarted, AttemptSucceeded, Event
from engine.model.ids import AttemptKey
from tests.flow.engines import EXECUTION, World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

KEY, OTHER = AttemptKey(EXECUTION, "n0"), AttemptKey(EXECUTION, "n1")
STARTED, DONE = AttemptStarted(KEY, "in"), AttemptSucceeded(KEY, "out", inputs_uri="in")
FAILED = AttemptFailed(KEY, Failure("c", ErrorKind.USER, "m"))
MISSED = AttemptStarted(KEY, "in", CacheStatus.MISS)


@pytest.mark.parametrize(
    ("started", "ended", "sent"),
    [(STARTED, DONE, [DONE]), (STARTED, FAILED, [STARTED, FAILED]), (MISSED, DONE, [MISSED, DONE])],
    ids=["a success says it all", "a failure does not", "what the cache said would be lost"],
)
async def test_an_end_takes_its_start_along(started: AttemptStarted, ended: Event, sent: list[Event]) -> None:
    told: list[Event] = []

    async def append(events: Sequence[Event]) -> None:
        told.extend(events)

    outbox = Outbox(append)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        outbox.hold(started)
        outbox.hold(AttemptStarted(OTHER))
        await outbox.send([ended])
        assert told == sent
        await anyio.sleep(2 * PATIENCE_SECONDS)
        assert told == [*sent, AttemptStarted(OTHER)]
        group.cancel_scope.cancel()


@pytest.mark.parametrize("seconds", [0.0, 1.0])
async def test_history_tells_of_the_run_however_short_it_was(seconds: float) -> None:
    world = World(chain(1))
    world.runner.script = takes(seconds, copies(world.blobs))
    await world.run()
    facts = [fact.phase for fact in await world.facts() if fact.path == "n0"]
    assert facts == ["QUEUED", "RUNNING", "SUCCEEDED"]
    node = (await world.nodes())["n0"]
    assert node.inputs_uri.endswith("/n0/data/inputs.pb")
    assert node.started_at


async def test_history_of_a_failure_too() -> None:
    world = World(chain(1), exits(1))
    await world.run()
    facts = [fact.phase for fact in await world.facts() if fact.path == "n0"]
    assert facts == ["QUEUED", "RUNNING", "FAILED"]
