"""The command's side: calls the engine that works on a home."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import ByteStream

from engine.adapters.control import frames
from engine.adapters.control.frames import HungUp
from engine.adapters.control.place import socket_path
from engine.model.errors import BadInput, EngineGone
from engine.wire.control import Hello, Refused, Reply, Request, pack_request, unpack_reply


class Call:
    """A connection to an engine that has greeted. One request, then its answers."""

    def __init__(self, stream: ByteStream, home: Path, *, stays: bool) -> None:
        self._stream, self._home = stream, home
        self.stays = stays
        """The engine is a service."""

    async def ask(self, request: Request) -> None:
        """Raises BadInput for a request that is too large; whatever else is wrong, `reply` tells."""
        data = pack_request(request)
        with suppress(HungUp):  # it may have been answered all the same
            await frames.send(self._stream, data)

    async def reply(self) -> Reply:
        """The next answer. Raises BadInput for a request that is refused, EngineGone."""
        try:
            reply = unpack_reply(await frames.receive(self._stream))
        except HungUp as error:
            raise EngineGone(f"the engine on home {self._home} has stopped") from error
        if not isinstance(reply, Refused):
            return reply
        if reply.mistake:
            raise BadInput(reply.message)
        raise EngineGone(f"the engine on home {self._home} could not do it: {reply.message}")


@asynccontextmanager
async def calling(home: Path) -> AsyncIterator[Call | None]:
    """A call to the engine that works on a home; None where no engine answers. Raises BadInput where it may not."""
    stream = await _connect(home)
    if stream is None:
        yield None
        return
    async with stream:
        hello = await _greeting(stream)
        yield None if hello is None else Call(stream, home, stays=hello.stays)


async def _greeting(stream: ByteStream) -> Hello | None:
    """None: the engine is just leaving."""
    try:
        reply = unpack_reply(await frames.receive(stream))
    except HungUp:
        return None
    return reply if isinstance(reply, Hello) else None


async def _connect(home: Path) -> ByteStream | None:
    with ExitStack() as stack:
        try:
            path = await to_thread.run_sync(stack.enter_context, socket_path(home))
            return await anyio.connect_unix(path)
        except PermissionError as error:
            raise BadInput(
                f"the engine on home {home} can't be reached: {error.strerror}; its owner may; nothing was started"
            ) from error
        except OSError:
            return None
