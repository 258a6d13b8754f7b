"""What a running engine does for the commands that call it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from typing import Protocol

import anyio

from engine.model.errors import BadInput
from engine.model.events import AboutAttempt, Event, ExecutionSubmitted
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.state import Execution, Fact
from engine.wire.control import (
    Done,
    Ended,
    Follow,
    Look,
    Moved,
    Piece,
    Print,
    Replay,
    Reply,
    Request,
    Send,
    Signal,
    Submit,
    Told,
    Waits,
)

Tell = Callable[[Reply], Awaitable[None]]


class WatchersLike(Protocol):
    def watching(
        self, watcher: Callable[[Sequence[Execution], Sequence[Fact]], None]
    ) -> AbstractContextManager[None]: ...


class BellLike(Protocol):
    def ring(self) -> None: ...


class EngineLike(Protocol):
    """What is asked of an engine (engine.app.Engine)."""

    @property
    def watchers(self) -> WatchersLike: ...

    @property
    def bell(self) -> BellLike: ...

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None: ...

    async def send(self, events: Sequence[Event]) -> None: ...

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None: ...

    async def wait(self, execution: ExecutionId) -> Execution: ...

    def printed(self, key: AttemptKey) -> AsyncGenerator[bytes, None]: ...

    def waits(self, execution: ExecutionId) -> dict[str, str]: ...


class Desk:
    def __init__(self, engine: EngineLike, replay: Callable[[str], Awaitable[None]]) -> None:
        """`replay` appends the event of a dead letter again."""
        self._engine, self._replay = engine, replay

    async def answer(self, request: Request, tell: Tell) -> None:
        """Do what is asked and tell the caller. Raises EngineError where it can't be done."""
        match request:
            case Submit(event=event, inputs=inputs):
                await self._engine.accept(event, inputs)
                await tell(Done())
            case Send(events=events):
                _refuse_news(events)
                await self._engine.send(events)
                await tell(Done())
            case Signal(execution=execution, signal_id=signal_id, value=value):
                await self._engine.signal(execution, signal_id, value)
                await tell(Done())
            case Look():
                self._engine.bell.ring()
                await tell(Done())
            case Replay(number=number):
                await self._replay(number)
                await tell(Done())
            case Print(key=key):
                async with aclosing(self._engine.printed(key)) as pieces:
                    async for piece in pieces:
                        await tell(Piece(piece))
                await tell(Done())
            case Waits(execution=execution):
                await tell(Told(self._engine.waits(execution)))
            case Follow(execution=execution):
                await self._follow(execution, tell)

    async def _follow(self, execution: ExecutionId, tell: Tell) -> None:
        """However much happens while the caller reads, it is told once afterwards. No message is cut short."""
        family, moved = {execution}, anyio.Event()
        ended: list[Execution] = []

        def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
            for record in executions:
                if record.parent is not None and record.parent.execution in family:
                    family.add(record.id)
                if record.id in family:
                    moved.set()

        async def see_the_end() -> None:
            ended.append(await self._engine.wait(execution))
            moved.set()

        with self._engine.watchers.watching(see):
            async with anyio.create_task_group() as group:
                group.start_soon(see_the_end)
                while not ended:
                    await tell(Moved())
                    await moved.wait()
                    moved = anyio.Event()
        await tell(Ended(ended[0].phase))


def _refuse_news(events: Sequence[Event]) -> None:
    """A command asks; what has happened to an attempt is for the engine alone to say."""
    for event in events:
        if isinstance(event, AboutAttempt | ExecutionSubmitted):
            raise BadInput(f"{type(event).__name__} can't be sent: it is not for a command to say; nothing was changed")
