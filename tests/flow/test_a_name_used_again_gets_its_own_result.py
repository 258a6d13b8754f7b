"""User case S25: the log is gone, the store is not; the same name, submitted again, returns its own result."""

from __future__ import annotations

import pytest

from engine.adapters.memory.log import MemoryLog
from engine.machine.children import child_id
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.layout import checkpoint_prefix, raw_prefix
from engine.wire.natural import natural_map
from tests.flow.engines import World
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


async def test_what_an_earlier_run_left_in_the_store_answers_nothing() -> None:
    world = World(nested())
    first = await world.run(inputs=ints(xs=[1, 2, 3]))
    first_child = await world.child("n1")
    for uri in list(world.blobs.objects):
        # The worst that an earlier run can leave: an error where each outcome will stand.
        if uri.endswith("/outputs.pb"):
            world.blobs.objects[uri.replace("outputs.pb", "error.pb")] = b"an old error"
    world.log = MemoryLog()
    second = await world.run(inputs=ints(xs=[7, 8]))

    assert second.phase.value == "SUCCEEDED", second.error
    assert natural_map(await world.blobs.get(second.outputs_uri)) == {"o0": [7, 8]}
    assert first.run != second.run
    assert (await world.child("n1")).id != first_child.id


def test_every_name_of_an_attempt_tells_the_runs_apart() -> None:
    order = ExecutionId("p", "d", "order-7")
    old, new = AttemptKey(order, "n0", run="a"), AttemptKey(order, "n0", run="b")

    for name in (child_id, raw_prefix, checkpoint_prefix, AttemptKey.digest):
        assert name(old) != name(new)
