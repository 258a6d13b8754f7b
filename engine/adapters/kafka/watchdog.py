"""Looks whether what waits is worked on: a client of Kafka can fall silent; then the process must end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import anyio

from engine.adapters.kafka import faults
from engine.model.errors import LogFailed

LOOKS = 10
"""In the time that a partition may stand still."""


class Ends(Protocol):
    async def ends(self, partitions: list[int]) -> Mapping[int, int]:
        """Partition -> where its events end now."""
        ...


class Watched(Protocol):
    @property
    def marks(self) -> tuple[int, int]:
        """How far it has read, and how far it has worked: they only grow."""
        ...

    @property
    def tries(self) -> int:
        """How often it has begun to write anew, with a client of its own: while Kafka refuses to, waiting is right."""
        ...

    def is_done(self, end: int) -> bool:
        """Whether nothing waits, where the events end there."""
        ...


class Watchdog:
    """`logs`: those that are open, by partition; looked at again each time."""

    def __init__(self, group: Ends, logs: Mapping[int, Watched], seconds: float) -> None:
        self._group, self._logs, self._seconds = group, logs, seconds
        self._seen: dict[int, tuple[Watched, tuple[int, int], int, float]] = {}
        """Partition -> the log, its marks and tries, and since when they have been the same with something to do."""
        self.ends: Mapping[int, int] = {}
        """Partition -> where its events ended at the last look."""

    async def run(self) -> None:
        """Raises LogFailed when a partition has had something to do for so long and has done nothing."""
        while True:
            await anyio.sleep(self._seconds / LOOKS)
            open_logs = dict(self._logs)
            try:
                with anyio.fail_after(self._seconds):
                    ends = await self._group.ends(list(open_logs))
            except faults.CLIENT_ERRORS:
                # Kafka itself is away: nobody can work.
                self._seen.clear()
                continue
            self.ends = ends
            self._look(open_logs, ends)

    def _look(self, logs: Mapping[int, Watched], ends: Mapping[int, int]) -> None:
        now = anyio.current_time()
        for partition in self._seen.keys() - logs.keys():
            del self._seen[partition]
        for partition, found in logs.items():
            if found.is_done(ends.get(partition, 0)):
                self._seen.pop(partition, None)
                continue
            before = self._seen.get(partition)
            if before is None or before[:3] != (found, found.marks, found.tries):
                self._seen[partition] = (found, found.marks, found.tries, now)
            elif now - before[3] >= self._seconds:
                raise LogFailed(
                    f"partition {partition} of the events stands still: {found.marks[0]} of {ends.get(partition)} have "
                    f"been read, and nothing has moved for {self._seconds:g} seconds; the engine stops"
                )
