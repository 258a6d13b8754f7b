"""A home from outside: what a command asks reaches the engine that works there, or an engine of the command's own.

Where an engine works on the home, it is called by its socket. Where none does, the home is taken for as long as the
command needs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import anyio

from engine.adapters.control.caller import calling
from engine.adapters.control.place import SOCKET
from engine.adapters.sqlite.log import SqliteLog
from engine.homes import open_home
from engine.model.errors import EngineGone, HomeInUse
from engine.model.events import Event, ExecutionSubmitted
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.wire.control import (
    Ended,
    Follow,
    Look,
    Piece,
    Print,
    Replay,
    Request,
    Send,
    Signal,
    Submit,
    Told,
    Waits,
)

if TYPE_CHECKING:
    from config.settings import Settings
    from engine.app import Engine

WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0)
"""Seconds between tries while an engine holds the home and does not answer: it is just starting, or leaving."""


class Contact(Protocol):
    """An engine on a home, as a command needs it. Raises BadInput for what is refused, EngineGone."""

    engine: Engine | None
    """The command's own; None where another process has it."""
    stays: bool
    """That other one is a service."""

    async def submit(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        """Start an execution, as `engine.app.Engine.accept` does; returns when that is durable."""
        ...

    async def send(self, events: Sequence[Event]) -> None:
        """Append events; returns when they are durable."""
        ...

    async def replay(self, number: str) -> None:
        """Append the event of a dead letter again; returns when that is durable."""
        ...

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        """Answer gates, as `engine.app.Engine.signal` does; returns when that is durable."""
        ...


class Own:
    """An engine in this process."""

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine | None = engine
        self.stays = False
        self._engine = engine

    async def submit(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        await self._engine.accept(event, inputs)

    async def send(self, events: Sequence[Event]) -> None:
        await self._engine.send(events)

    async def replay(self, number: str) -> None:
        assert isinstance(self._engine.log, SqliteLog), "homes have such a log"
        await self._engine.log.replay(number)

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        await self._engine.signal(execution, signal_id, value)


class Other:
    """An engine in another process; each request is a call of its own."""

    engine: Engine | None = None

    def __init__(self, home: Path, *, stays: bool) -> None:
        self._home, self.stays = home, stays

    async def submit(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        await self._ask(Submit(event, inputs))

    async def send(self, events: Sequence[Event]) -> None:
        await self._ask(Send(tuple(events)))

    async def replay(self, number: str) -> None:
        await self._ask(Replay(number))

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        await self._ask(Signal(execution, signal_id, value))

    async def _ask(self, request: Request) -> None:
        async with calling(self._home) as call:
            if call is None:
                raise EngineGone(f"the engine on home {self._home} has stopped")
            await call.ask(request)
            await call.reply()


@asynccontextmanager
async def reach(home: Path, settings: Settings, *, idle: bool = False) -> AsyncIterator[Contact]:
    """The engine that works on a home, or one of our own there, which goes on with all that is unfinished.

    `idle`: an engine of our own takes in what is asked of it and starts nothing. Raises as `open_home`; HomeInUse only
    where an engine holds the home and does not answer for long.
    """
    async with AsyncExitStack() as stack:
        yield await _contact(stack, home, settings, idle)


async def send(home: Path, settings: Settings, events: Sequence[Event]) -> None:
    """Append events to the log of a home, whoever works on it; returns when they are durable.

    Where nobody does, the next engine acts on them. Raises as `reach` and `Contact.send`.
    """
    async with reach(home, settings, idle=True) as contact:
        await contact.send(events)


async def tell_of_change(home: Path) -> None:
    """Let the engine that works on a home, if one does, look at what is active."""
    async with calling(home) as call:
        if call is not None:
            await call.ask(Look())
            await call.reply()


async def waits(home: Path, execution: ExecutionId) -> dict[str, str]:
    """What the engine that works on a home says that queued tasks wait for, by path; nothing, where none works."""
    async with calling(home) as call:
        if call is None:
            return {}
        await call.ask(Waits(execution))
        try:
            reply = await call.reply()
        except EngineGone:  # it stops, or it is an older one
            return {}
    return reply.waits if isinstance(reply, Told) else {}


async def serves(home: Path) -> bool:
    """Whether a service works on a home, and can be reached."""
    async with calling(home) as call:
        return call is not None and call.stays


async def answers(home: Path) -> bool:
    """Whether an engine works on a home, and can be reached."""
    async with calling(home) as call:
        return call is not None


async def printed(home: Path, key: AttemptKey, take: Callable[[bytes], bool]) -> bool | None:
    """Hand over what an attempt has printed that runs elsewhere (a pod), as the engine on a home finds it; `take` says
    whether it wants more.

    Whether there was anything; None: no engine works on the home. Raises EngineGone where it can't tell.
    """
    async with calling(home) as call:
        if call is None:
            return None
        await call.ask(Print(key))
        found = False
        while isinstance(reply := await call.reply(), Piece):
            found = True
            if not take(reply.data):
                break
        return found


async def follow(home: Path, execution: ExecutionId, moved: Callable[[], None]) -> ExecutionPhase | None:
    """Call `moved` whenever there is something new to read of the execution or of those below it, until it ends.

    The phase that it ends in; None, at once, where no engine works on the home. Raises EngineGone when that one stops.
    """
    async with calling(home) as call:
        if call is None:
            return None
        await call.ask(Follow(execution))
        while not isinstance(reply := await call.reply(), Ended):
            moved()
        return reply.phase


async def _contact(stack: AsyncExitStack, home: Path, settings: Settings, idle: bool) -> Contact:
    for pause in (*WAITS, None):
        async with calling(home) as call:
            if call is not None:
                return Other(home, stays=call.stays)
        try:
            return Own(await stack.enter_async_context(open_home(home, settings, idle=idle)))
        except HomeInUse as problem:
            # No event tells of a lock that is let go or of a socket that appears.
            if pause is None:
                raise HomeInUse(f"{problem}. That process can't be reached: {await _why(home)}") from problem
            await anyio.sleep(pause)
    raise AssertionError("the last try returns or raises")


async def _why(home: Path) -> str:
    """Why an engine that holds a home does not answer."""
    if await anyio.Path(home / SOCKET).exists():
        return "it does not answer its socket"
    return f"its socket {home / SOCKET} is gone or could not be made; once it is started again, its executions go on"
