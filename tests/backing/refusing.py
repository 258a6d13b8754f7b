"""A way to a broker on which writes are refused while the test says so: NOT_ENOUGH_REPLICAS, which clients try again.

A single broker can't be made to: since Kafka 4.0 a topic needs no more copies than it has.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from aiokafka.protocol import produce
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.backing.distance import listening

_PRODUCE, _API_VERSIONS = 0, 18
_NOT_ENOUGH_REPLICAS = 19
_SIZE, _BEGIN = struct.Struct(">i"), struct.Struct(">hhi")
"""Of a message; of a request: what is asked, the version of that, and a number that the answer repeats."""
LARGEST_BYTES = 64 * 1024 * 1024


class Refusing:
    """`address` leads to the broker. `refuses` may be changed at any time."""

    def __init__(self) -> None:
        self.address = ""
        self.refuses = False
        self.refused = 0
        """Requests to write."""

    async def carry(self, client: ByteStream, host: str, port: int) -> None:
        answers: dict[int, bytes] = {}
        """By the numbers of the requests that were refused: what their clients get."""
        try:
            async with client, await anyio.connect_tcp(host, port) as server, anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask, client, server, answers, tasks.cancel_scope)
                tasks.start_soon(_answer, server, client, answers, tasks.cancel_scope)
        except OSError:
            pass  # the broker is away; the client finds its connection closed

    async def _ask(self, client: ByteStream, server: ByteStream, answers: dict[int, bytes], both: Any) -> None:
        async for request in _messages(client):
            asked, version, number = _BEGIN.unpack_from(request)
            if asked == _PRODUCE and self.refuses:
                self.refused += 1
                name = _client_in(request)
                answers[number] = _refusal(version, request[_BEGIN.size + len(name) :])
                # Something that is answered at once, in the order in which the broker answers.
                request = _BEGIN.pack(_API_VERSIONS, 0, number) + name
            await _send(server, request)
        both.cancel()


async def _answer(server: ByteStream, client: ByteStream, answers: dict[int, bytes], both: Any) -> None:
    async for answer in _messages(server):
        (number,) = _SIZE.unpack_from(answer)
        refusal = answers.pop(number, None)
        await _send(client, answer if refusal is None else _SIZE.pack(number) + refusal)
    both.cancel()


async def _messages(stream: ByteStream) -> AsyncIterator[bytes]:
    """Until the other side closes it."""
    buffered = BufferedByteReceiveStream(stream)
    try:
        while True:
            (size,) = _SIZE.unpack(await buffered.receive_exactly(_SIZE.size))
            assert 0 < size < LARGEST_BYTES
            yield await buffered.receive_exactly(size)
    except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def _send(stream: ByteStream, message: bytes) -> None:
    try:
        await stream.send(_SIZE.pack(len(message)) + message)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # whoever reads from it ends the connection


def _client_in(request: bytes) -> bytes:
    """The client's name in the header of a request, with its length before it."""
    (length,) = struct.unpack_from(">h", request, _BEGIN.size)
    return request[_BEGIN.size : _BEGIN.size + 2 + max(length, 0)]


def _refusal(version: int, body: bytes) -> bytes:
    """The answer to a request to write, for all partitions in it."""
    request: Any = getattr(produce, f"ProduceRequest_v{version}").decode(body)
    response: Any = getattr(produce, f"ProduceResponse_v{version}")
    more: tuple[Any, ...] = (-1, -1, -1, [], None) if version >= 8 else (-1, -1, -1) if version >= 5 else (-1, -1)
    topics = [
        (topic, [(partition, _NOT_ENOUGH_REPLICAS, *more) for partition, _ in partitions])
        for topic, partitions in request.topics
    ]
    encoded: bytes = response(topics, 0).encode()
    return encoded


@asynccontextmanager
async def refusing(address: str, *, port: int = 0) -> AsyncIterator[Refusing]:
    """A way to HOST:PORT from a port of this machine (0: any), while the block is entered."""
    host, _, far = address.rpartition(":")
    way = Refusing()

    async with listening(port, lambda client: way.carry(client, host, int(far))) as way.address:
        yield way
