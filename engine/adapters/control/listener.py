"""The engine's side: a socket in the home, and a task for each command that calls."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from engine.adapters.control import frames
from engine.adapters.control.frames import HungUp
from engine.adapters.control.place import SOCKET, socket_path
from engine.model.errors import BadInput, EngineError
from engine.wire.control import Hello, Refused, Reply, Request, pack_reply, unpack_request

CALLERS = 200
"""Commands at once, those that wait for an execution included; open files of the engine are finite."""
REQUEST_SECONDS = 10.0
"""The longest that a caller may take to say what it wants."""
PAUSE_SECONDS = 1.0
"""After the system had no file or memory left for another caller."""
BACKLOG = 1024

logger = logging.getLogger(__name__)
Tell = Callable[[Reply], Awaitable[None]]
Answer = Callable[[Request, Tell], Awaitable[None]]


@asynccontextmanager
async def listening(home: Path) -> AsyncIterator[SocketListener | None]:
    """The socket of a home whose lock is held: callers queue up until `serve` takes them. Removed at the end.

    None, with a warning, where there can't be one: such a home can be worked on, but commands don't reach its engine.
    """
    try:
        bound = await to_thread.run_sync(_bind, home)
    except OSError as error:
        logger.warning("commands can't reach this engine", extra={"home": str(home), "cause": str(error)})
        yield None
        return
    async with await SocketListener.from_socket(bound) as listener:
        try:
            yield listener
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(_remove, home)


async def serve(listener: SocketListener, answer: Answer, *, stays: bool = False) -> None:
    """Take callers for ever. `answer` gets each request, and what to call with the replies."""
    hello = Hello(os.getpid(), stays)
    callers = 0

    async def attend(stream: SocketStream) -> None:
        nonlocal callers
        callers += 1
        try:
            async with stream:
                with suppress(HungUp):
                    await _converse(stream, answer, hello, crowded=callers > CALLERS)
        finally:
            callers -= 1

    async with anyio.create_task_group() as group:
        while True:
            try:
                group.start_soon(attend, await listener.accept())
            except OSError as error:
                logger.warning("a command can't be taken just now", extra={"cause": str(error)})
                await anyio.sleep(PAUSE_SECONDS)


async def _converse(stream: SocketStream, answer: Answer, hello: Hello, *, crowded: bool) -> None:
    """Greet, take the one request of this caller, and answer it for as long as the caller listens. Raises HungUp."""

    async def tell(reply: Reply) -> None:
        with suppress(HungUp):  # whoever reads the stream ends the conversation
            await frames.send(stream, pack_reply(reply))

    await tell(hello)
    try:
        if crowded:
            raise BadInput(f"{CALLERS} commands are being answered already; try again later")
        with anyio.fail_after(REQUEST_SECONDS):
            request = unpack_request(await frames.receive(stream))
        await _while_heard(stream, answer, request, tell)
    except TimeoutError:
        await tell(Refused(f"no command came within {REQUEST_SECONDS:g} seconds", mistake=True))
    except EngineError as problem:
        await tell(Refused(str(problem), mistake=isinstance(problem, BadInput)))


async def _while_heard(stream: SocketStream, answer: Answer, request: Request, tell: Tell) -> None:
    """Answer; stop when the caller hangs up. Raises EngineError."""
    problem: EngineError | None = None

    async def listen() -> None:
        with suppress(HungUp):
            await frames.receive(stream)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        try:
            await answer(request, tell)
        except EngineError as error:
            problem = error
        except Exception as error:  # a verdict for the caller; the engine goes on
            logger.exception("a command could not be answered", extra={"request": type(request).__name__})
            problem = EngineError(f"{type(error).__name__}: {error}")
        # In place of a cancellation, which anyio takes badly while something arrives.
        with suppress(OSError):
            stream.extra(SocketAttribute.raw_socket).shutdown(socket.SHUT_RD)
    if problem is not None:
        raise problem


def _bind(home: Path) -> socket.socket:
    """Blocking. The lock of the home is held, so what stands there is nobody's."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        with socket_path(home) as path:
            with suppress(FileNotFoundError):
                os.unlink(path)
            bound.bind(path)
            os.chmod(path, 0o600)  # nobody can call before `listen`
        bound.listen(BACKLOG)
    except BaseException:
        bound.close()
        raise
    return bound


def _remove(home: Path) -> None:
    with suppress(OSError):
        (home / SOCKET).unlink()
