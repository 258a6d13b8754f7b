"""This process in the consumer group: which partitions it has. It reads no events here, only its assignment.

Every rebalance of this protocol takes all partitions away and gives most of them back. What matters is the difference:
a partition that comes back goes on as if nothing had been. Meanwhile another engine may have it already; the
transactions of the old owner are refused then.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

import anyio
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from engine.adapters.kafka import faults
from engine.adapters.kafka.clients import STOP_SECONDS, Clients
from engine.adapters.kafka.namesakes import Name
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.patience import Patience
from engine.adapters.kafka.reading import POLL_MS
from engine.adapters.workers import helpers

NEVER_MS = 7 * 86400 * 1000
"""The client's own limit between polls would put a member out that has no partitions; the watchdog looks for real
trouble."""
MOST_HEARTBEAT_SECONDS = 1.0
"""With a heartbeat a member learns that another one has come or gone."""

log = logging.getLogger(__name__)


class Group(ConsumerRebalanceListener):
    """Use `join`."""

    def __init__(self, clients: Clients) -> None:
        options = clients.options
        self._name = Name(clients)
        self._assignor: type[StickyPartitionAssignor] = type("Assignor", (StickyPartitionAssignor,), {})
        """One for each member: the client keeps in the class what a member knows."""
        self._topic = options.topic(Topic.EVENTS)
        self._consumer = AIOKafkaConsumer(
            **clients.common,
            group_id=options.group,
            group_instance_id=options.instance,
            isolation_level="read_committed",
            enable_auto_commit=False,
            auto_offset_reset="latest",
            partition_assignment_strategy=(self._assignor,),
            session_timeout_ms=int(options.session_seconds * 1000),
            heartbeat_interval_ms=int(min(options.session_seconds / 3, MOST_HEARTBEAT_SECONDS) * 1000),
            max_poll_interval_ms=NEVER_MS,
            max_partition_fetch_bytes=1,
        )
        self.owned: frozenset[int] = frozenset()
        self.rebalances = 0
        self._changed, self._assigned = anyio.Event(), anyio.Event()

    @classmethod
    @asynccontextmanager
    async def join(cls, clients: Clients) -> AsyncIterator[Group]:
        """Be a member until the block is left. Raises LogFailed, BadInput where another process has our name."""
        group = cls(clients)
        try:
            await group._start()
            async with helpers() as tasks:
                tasks.start_soon(group._poll)
                tasks.start_soon(group._name.run)
                yield group
        finally:
            with anyio.move_on_after(STOP_SECONDS, shield=True):
                await group._leave()

    async def changed(self) -> None:
        """Wait for the next assignment, or `wake`."""
        self._changed = anyio.Event()
        await self._changed.wait()

    async def assigned(self, after: int) -> None:
        """Wait until there has been another assignment than the first `after`."""
        while self.rebalances <= after:
            await self._assigned.wait()

    def wake(self) -> None:
        """Have the assignment looked at again."""
        self._changed.set()

    async def ends(self, partitions: Collection[int]) -> Mapping[int, int]:
        """Partition -> where its events end now. Raises what aiokafka raises."""
        wanted = [TopicPartition(self._topic, partition) for partition in partitions]
        found = await self._consumer.end_offsets(wanted) if wanted else {}
        return {each.partition: offset for each, offset in found.items()}

    async def tell(self, cursors: Mapping[int, int]) -> None:
        """Commit offsets of the group: nobody here reads them, tools that show lag do."""
        ours = {TopicPartition(self._topic, partition): cursor for partition, cursor in cursors.items()}
        try:
            await self._consumer.commit({each: cursor for each, cursor in ours.items() if each.partition in self.owned})
        except faults.CLIENT_ERRORS as error:
            log.info("offsets of the group could not be committed", extra={"cause": faults.describe(error)})

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Nothing is let go before it is known who has what."""

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._consumer.pause(*assigned)
        self.owned = frozenset(each.partition for each in assigned)
        self.rebalances += 1
        # The client forgets to; without it, a member that was away for a while is believed to have what others got.
        coordinator = self._consumer._coordinator
        assert coordinator is not None
        self._assignor.on_generation_assignment(coordinator.generation)
        self._assigned.set()
        self._assigned = anyio.Event()
        log.info("partitions of the events were assigned", extra={"partitions": sorted(self.owned)})
        self.wake()

    async def _start(self) -> None:
        patience = Patience("joining the group")
        while True:
            try:
                await self._consumer.start()
                self._name.guard(self._consumer._coordinator)
                self._consumer.subscribe([self._topic], listener=self)
                patience.over()
                return
            except faults.CLIENT_ERRORS as error:
                await patience.wait(error)

    async def _leave(self) -> None:
        """So that others go on at once. The client would keep a static member's place until its session ends."""
        coordinator = self._consumer._coordinator
        if coordinator is not None:
            coordinator._group_instance_id = None
        await self._consumer.stop()

    async def _poll(self) -> None:
        """Without polling a member is taken for dead."""
        patience = Patience("polling for assignments")
        while True:
            try:
                await self._consumer.getmany(timeout_ms=POLL_MS)
                patience.over()
            except faults.CLIENT_ERRORS as error:
                await patience.wait(error)
