"""Two live processes with one `kafka.instance`: the one that was there first stops, and says why; the other goes on."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kafka import topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.group import Group
from engine.model.errors import BadInput
from tests.contract.kafka_world import fresh_options

pytestmark = pytest.mark.service("kafka")


class Member:
    def __init__(self, clients: Clients) -> None:
        self.clients, self.joined, self.ended = clients, anyio.Event(), anyio.Event()
        self.group: Group
        self.told: list[str] = []

    async def run(self) -> None:
        try:
            async with Group.join(self.clients) as self.group:
                await self.group.assigned(0)
                self.joined.set()
                await anyio.sleep_forever()
        except* BadInput as errors:
            self.told = [str(error) for error in errors.exceptions]
        finally:
            self.ended.set()


async def test_the_first_one_stops_and_names_the_other() -> None:
    options = fresh_options(partitions=2, instance="mine", session_seconds=6.0)
    await topics.prepare(Clients(options, {}))
    first, second = Member(Clients(options, {})), Member(Clients(options, {}))
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(30):
            tasks.start_soon(first.run)
            await first.joined.wait()
            tasks.start_soon(second.run)
            await second.joined.wait()
            await first.ended.wait()
            (told,) = first.told
            coordinator = second.group._consumer._coordinator
            assert coordinator is not None
            other = coordinator.member_id
            assert told.startswith(f"kafka.instance: another process (member {other}) has")
            assert f"has joined the group {options.group!r} as 'mine', the name of this one, which stops now" in told
            await second.group.assigned(0)
        assert not second.ended.is_set()
        tasks.cancel_scope.cancel()


async def test_a_member_that_was_silent_for_too_long_joins_again() -> None:
    options = fresh_options(partitions=2, instance="mine", session_seconds=6.0)
    await topics.prepare(Clients(options, {}))
    member = Member(Clients(options, {}))
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(30):
            tasks.start_soon(member.run)
            await member.joined.wait()
            coordinator = member.group._consumer._coordinator
            assert coordinator is not None
            rebalances = member.group.rebalances
            coordinator.reset_generation()
            await member.group.assigned(rebalances)
        assert not member.ended.is_set()
        tasks.cancel_scope.cancel()
