"""Timers: each live node whose `wake_at` names a time gets one TimerFired when it has come.

They are derived from the stored states and nothing else, so a restart loses none and a node that has moved on has none.
"""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio

from engine.model.events import Event, TimerFired
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.state import Execution, Node
from engine.ports.clock import Clock

LONGEST_NAP_SECONDS = 3600.0
"""A clock that is set forward, or a machine that was asleep, is noticed within this time."""

SPARE = 1000
"""Times out of date that are kept at least: whole days of timeouts that nobody waits for would fill the memory."""

_Place = tuple[ExecutionId, str]


class Timers:
    def __init__(self, clock: Clock, append: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self.clock, self._append = clock, append
        self._due: dict[_Place, tuple[float, AttemptKey]] = {}
        self._heap: list[tuple[float, _Place]] = []
        """May hold times that are out of date: `_due` tells."""
        self._earlier = anyio.Event()
        """Something is due before what the heap began with."""

    def __len__(self) -> int:
        return len(self._due)

    def follow(self, nodes: Iterable[tuple[Execution, Node]]) -> None:
        """Take over the states that a turn, or a restore, gave these nodes."""
        for record, node in nodes:
            place = (record.id, node.path)
            if node.live and node.wake_at:
                self._set(place, node.wake_at, record.key(node.path, node.attempt))
            else:
                self._due.pop(place, None)

    def _set(self, place: _Place, at: float, key: AttemptKey) -> None:
        if self._due.get(place) == (at, key):
            return
        self._due[place] = (at, key)
        if not self._heap or at < self._heap[0][0]:
            self._earlier.set()
        heapq.heappush(self._heap, (at, place))
        if len(self._heap) > 2 * len(self._due) + SPARE:
            self._heap = [(at, place) for place, (at, _) in self._due.items()]
            heapq.heapify(self._heap)

    async def run(self) -> None:
        """Tell of what has come due, for ever."""
        while True:
            self._earlier = anyio.Event()
            fired = self._take(self.clock.now())
            if fired:
                await self._append(fired)
                continue
            nap = min(self._heap[0][0] - self.clock.now(), LONGEST_NAP_SECONDS) if self._heap else float("inf")
            with anyio.move_on_after(nap):
                await self._earlier.wait()

    def _take(self, now: float) -> list[Event]:
        fired: list[Event] = []
        while self._heap and (self._heap[0][0] <= now or self._stale(self._heap[0])):
            at, place = heapq.heappop(self._heap)
            due = self._due.get(place)
            if due is not None and due[0] == at:
                del self._due[place]
                fired.append(TimerFired(due[1], at))
        return fired

    def _stale(self, entry: tuple[float, _Place]) -> bool:
        due = self._due.get(entry[1])
        return due is None or due[0] != entry[0]
