from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from engine.ports.eventlog import Changes
from tests.backing import kafka
from tests.contract.log_nouns import execution, fact, named
from tests.contract.test_kafka_states_and_history_are_projected import Heard, following
from tests.contract.test_kafka_trouble_is_waited_out import own_broker

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(300)]


async def test_what_is_committed_after_the_broker_came_back_is_told_once(tmp_path: Path) -> None:
    heard = Heard()
    async with own_broker() as (broker, world), following(world, tmp_path, heard) as projection:
        await world.log.commit((), Changes([execution("a")], facts=[fact("a", 1)]))
        await heard.until(1)
        await anyio.to_thread.run_sync(broker.kill)
        await anyio.to_thread.run_sync(kafka.run, broker, world.clients.options.bootstrap)
        await world.log.commit((), Changes([execution("b")], facts=[fact("a", 2), fact("b", 1)]))
        with anyio.fail_after(120):
            await heard.until(3)
        assert sorted((it.execution.name, it.sequence) for it in heard.facts) == [("a", 1), ("a", 2), ("b", 1)]
        await heard.until_known(named("b"))
        assert await projection.find([named("b")]) == {named("b"): execution("b")}
