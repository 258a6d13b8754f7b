"""A number of slots, and who gets the next one: executions take turns, inside an execution its nodes do.

So a map of ten thousand elements holds up neither another execution nor a single task beside it. What child executions
run counts as their parent's node. What waits for the same node is served in the order of the calls.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from engine.model.ids import AttemptKey, ExecutionId


class _Waiter:
    __slots__ = ("called", "place")

    def __init__(self, key: AttemptKey) -> None:
        self.place = key.execution, key.path
        self.called = anyio.Event()


_Line = OrderedDict[_Waiter, None]
_Nodes = OrderedDict[str, _Line]


class Slots:
    def __init__(self, count: int) -> None:
        self.free = count
        self._waiting: OrderedDict[ExecutionId, _Nodes] = OrderedDict()
        """In the order of their turns: whoever was served goes to the end."""

    @asynccontextmanager
    async def one(self, turn: AttemptKey) -> AsyncIterator[None]:
        """Hold a slot while the block is entered; waits for it, when it is the turn of this execution and node."""
        await self._take(turn)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, turn: AttemptKey) -> None:
        if self.free:
            self.free -= 1
            return
        waiter = self._join(_Waiter(turn))
        try:
            await waiter.called.wait()
        except BaseException:
            if waiter.called.is_set():
                self._give_back()
            else:
                self._leave(waiter)
            raise

    def _give_back(self) -> None:
        """To whoever's turn it is."""
        if not self._waiting:
            self.free += 1
            return
        execution, nodes = self._waiting.popitem(last=False)
        path, line = nodes.popitem(last=False)
        waiter, _ = line.popitem(last=False)
        if line:
            nodes[path] = line
        if nodes:
            self._waiting[execution] = nodes
        waiter.called.set()

    def _join(self, waiter: _Waiter) -> _Waiter:
        execution, node = waiter.place
        nodes = self._waiting.setdefault(execution, OrderedDict())
        nodes.setdefault(node, OrderedDict())[waiter] = None
        return waiter

    def _leave(self, waiter: _Waiter) -> None:
        execution, path = waiter.place
        nodes = self._waiting[execution]
        del nodes[path][waiter]
        if not nodes[path]:
            del nodes[path]
        if not nodes:
            del self._waiting[execution]
