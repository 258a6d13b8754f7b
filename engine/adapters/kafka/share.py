"""The share of the events that this process works on: a log, and whoever works on it, for each partition it has."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator

import anyio
from anyio.abc import TaskGroup

from engine.adapters.kafka import faults
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.group import Group
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.watchdog import Watchdog
from engine.model.errors import LogFailed

TELL_SECONDS = 5.0

log = logging.getLogger(__name__)
Work = Callable[[KafkaLog], Awaitable[None]]


class Share:
    """`work` is called with the open log of each partition, and cancelled when the partition goes somewhere else."""

    def __init__(self, clients: Clients, group: Group, appender: Appender, work: Work) -> None:
        self._clients, self._group, self._appender, self._work = clients, group, appender, work
        self._scopes: dict[int, anyio.CancelScope] = {}
        self.logs: dict[int, KafkaLog] = {}
        """Of the partitions that are taken over."""
        self.lost = 0
        """Partitions that had to be let go, though the group had given them to us."""
        self._watchdog = Watchdog(group, self.logs, clients.options.watchdog_seconds)

    async def run(self) -> None:
        """For ever. Raises, in an exception group, what `work` raises; LogFailed where nothing goes on any more."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watchdog.run)
            tasks.start_soon(self._tell)
            while True:
                self._follow(tasks)
                await self._group.changed()

    def lags(self) -> dict[int, int]:
        """Partition -> events that wait, as of the watchdog's last look."""
        ends = self._watchdog.ends
        return {
            partition: 0 if mine.is_done(end := ends.get(partition, 0)) else max(end - mine.cursor, 0)
            for partition, mine in self.logs.items()
        }

    def _follow(self, tasks: TaskGroup) -> None:
        """Begin with what was given, and end with what was taken away."""
        for partition, scope in self._scopes.items():
            if partition not in self._group.owned:
                scope.cancel()
        for partition in self._group.owned - self._scopes.keys():
            scope = self._scopes[partition] = anyio.CancelScope()
            tasks.start_soon(self._own, partition, scope)

    async def _own(self, partition: int, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                while True:
                    rebalances = self._group.rebalances
                    await self._work_once(partition)
                    # Mostly another engine has it, and the group is about to say so.
                    with anyio.move_on_after(self._clients.options.session_seconds):
                        await self._group.assigned(rebalances)
        finally:
            del self._scopes[partition]
            # It may have come back while it was being let go.
            self._group.wake()

    async def _work_once(self, partition: int) -> None:
        try:
            async with KafkaLog.open(
                self._clients, partition, self._appender, lambda: self._is_ours(partition)
            ) as mine:
                self.logs[partition] = mine
                await self._work(mine)
        except* LogFailed as failures:
            self.lost += 1
            causes = sorted({faults.describe(failure) for failure in _leaves(failures)})
            log.warning("a partition was let go", extra={"partition": partition, "cause": "; ".join(causes)})
        finally:
            self.logs.pop(partition, None)

    def _is_ours(self, partition: int) -> bool:
        return partition in self._group.owned

    async def _tell(self) -> None:
        """For tools that show lag."""
        told: dict[int, int] = {}
        while True:
            await anyio.sleep(TELL_SECONDS)
            cursors = {partition: each.cursor for partition, each in self.logs.items()}
            if cursors and cursors != told:
                await self._group.tell(cursors)
                told = cursors


def _leaves(group: BaseExceptionGroup[LogFailed]) -> Iterator[LogFailed]:
    for one in group.exceptions:
        if isinstance(one, BaseExceptionGroup):
            yield from _leaves(one)
        else:
            yield one
