"""A way to a server that is long, or breaks: connections through it are slow in both directions, and can be cut."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.memory import MemoryObjectReceiveStream

BUFFERED = 1000
"""Pieces on their way at once, in each direction of a connection."""


class Way:
    """`address` leads to the server. `one_way_seconds` may be changed at any time."""

    def __init__(self, one_way_seconds: float) -> None:
        self.one_way_seconds = one_way_seconds
        self.address = ""
        self.cuts = 0
        """Connections that were cut."""
        self._open: set[anyio.CancelScope] = set()

    def cut(self) -> None:
        """Every connection that is open now."""
        self.cuts += len(self._open)
        for scope in self._open:
            scope.cancel()

    async def carry(self, client: ByteStream, host: str, port: int) -> None:
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            try:
                async with client, await anyio.connect_tcp(host, port) as server, anyio.create_task_group() as tasks:
                    for source, target in ((client, server), (server, client)):
                        tasks.start_soon(self._pump, source, target, tasks.cancel_scope)
            except OSError:
                pass  # the server is away; the client finds its connection closed
            finally:
                self._open.discard(scope)

    async def _pump(self, source: ByteStream, target: ByteStream, both: anyio.CancelScope) -> None:
        send, receive = anyio.create_memory_object_stream[tuple[float, bytes]](BUFFERED)
        async with send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(self._deliver, receive, target)
            try:
                while True:
                    await send.send((anyio.current_time() + self.one_way_seconds, await source.receive()))
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                both.cancel()

    async def _deliver(self, pieces: MemoryObjectReceiveStream[tuple[float, bytes]], target: ByteStream) -> None:
        async for due, piece in pieces:
            await anyio.sleep_until(due)
            try:
                await target.send(piece)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


@asynccontextmanager
async def way_to(address: str, *, port: int = 0, one_way_seconds: float = 0.0) -> AsyncIterator[Way]:
    """A way to HOST:PORT from a port of this machine (0: any), while the block is entered."""
    host, _, far = address.rpartition(":")
    way = Way(one_way_seconds)

    async with listening(port, lambda client: way.carry(client, host, int(far))) as way.address:
        yield way


@asynccontextmanager
async def listening(port: int, carry: Callable[[ByteStream], Awaitable[None]]) -> AsyncIterator[str]:
    """`carry` has every connection to a port of this machine (0: any), until the block is left; its address."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, carry)
        yield f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()
