"""One message on a stream: its length in four bytes, then its bytes."""

from __future__ import annotations

import struct

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from anyio.abc import ByteStream

from engine.wire.codec import Unreadable
from engine.wire.control import MAX_BYTES

_LENGTH = struct.Struct(">I")


class HungUp(Exception):
    """The other side is gone."""


async def send(stream: ByteStream, data: bytes) -> None:
    """Raises HungUp."""
    try:
        await stream.send(_LENGTH.pack(len(data)) + data)
    except (BrokenResourceError, ClosedResourceError, OSError) as error:
        raise HungUp from error


async def receive(stream: ByteStream) -> bytes:
    """The next message. Memory grows with what arrives, not with what is announced. Raises HungUp, Unreadable."""
    (length,) = _LENGTH.unpack(await _exactly(stream, _LENGTH.size))
    if length > MAX_BYTES:
        raise Unreadable(f"a message of {length} bytes is above the {MAX_BYTES} that are read")
    return await _exactly(stream, length)


async def _exactly(stream: ByteStream, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        try:
            found += await stream.receive(min(count - len(found), 65536))
        except (EndOfStream, BrokenResourceError, ClosedResourceError, OSError) as error:
            raise HungUp from error
    return bytes(found)
