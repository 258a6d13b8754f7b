"""`propwash watch`: follows an execution that another process works on, to its end."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from engine.cli.answers import Place
from engine.cli.board import Board
from engine.cli.finish import finish, resume_command
from engine.cli.mirror import Mirror
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.session import Session, run_session
from engine.cli.standing import standing
from engine.cli.views import drawing, showing
from engine.gateway.documents import Documents
from engine.homes import HomeView, read_home
from engine.model.errors import BadInput, EngineError, EngineGone
from engine.model.ids import ExecutionId
from engine.reach import Contact, follow, reach

if TYPE_CHECKING:
    from config.settings import Settings

PAUSE_SECONDS = 0.1
"""Between two looks at the log while much happens."""


def watch(name: str, home: Path, config: Path | None, sets: Sequence[str], *, as_json: bool) -> int:
    """Raises BadInput where there is no such execution, and where nobody works on one that is unfinished."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import on_cluster

        return run_session(partial(on_cluster.watch, name, home, settings, as_json))
    return run_session(partial(_watch, name, home, settings, as_json))


async def _watch(name: str, home: Path, settings: Settings, as_json: bool, session: Session) -> int:
    async with read_home(home, settings) as view:
        execution = (await named(name, view.names, home)).id
        problem = await watching(view, home, execution, quiet=as_json)
        if problem is not None:
            raise problem
        return await finish(view, [execution], home, as_json=as_json)


@asynccontextmanager
async def to_the_end(
    contact: Contact, home: Path, settings: Settings, execution: ExecutionId, *, quiet: bool
) -> AsyncIterator[HomeView]:
    """Show an execution until it ends, whoever works on it; then its home, to be looked at within the block.

    Where an engine stops that was only passing by (another command's), this command goes on with the next one, or with
    one of its own. Raises EngineGone where a service stops.
    """
    async with AsyncExitStack() as stack:
        while contact.engine is None:
            view = await stack.enter_async_context(read_home(home, settings))
            problem = await watching(view, home, execution, quiet=quiet)
            if problem is None:
                yield view
                return
            if contact.stays:
                raise problem
            contact = await stack.enter_async_context(reach(home, settings))
        engine = contact.engine
        async with showing(engine, [execution], home, quiet=quiet):
            await engine.wait(execution)
        yield HomeView(engine.log, engine.blobs)


async def watching(view: HomeView, home: Path, execution: ExecutionId, *, quiet: bool) -> EngineError | None:
    """Show an execution until it ends (None), or until no engine works on the home any more (what to say then)."""
    mirror = Mirror(view.log, Documents(view.log, view.blobs, home))
    await mirror.look(execution)
    async with mirrored(mirror, home, execution, quiet=quiet) as moved:
        return await _followed(home, mirror, execution, moved)


@asynccontextmanager
async def mirrored(
    mirror: Mirror, place: Place, execution: ExecutionId, *, quiet: bool
) -> AsyncIterator[Callable[[], None]]:
    """Show an execution until the block is left; what it gives is to be called when there is something new to read."""
    if quiet:
        yield lambda: None
        return
    board = Board(mirror.states.get, place)
    async with drawing(board, time.time) as see:
        board.follow(execution)
        known = mirror.states.get(execution)
        if known is not None:
            see(*standing(known, time.time()))
        async with anyio.create_task_group() as group:
            changed = anyio.Event()

            async def look() -> None:
                nonlocal changed
                while True:
                    await changed.wait()
                    changed = anyio.Event()
                    see(*await mirror.look(execution))
                    await anyio.sleep(PAUSE_SECONDS)

            group.start_soon(look)
            yield lambda: changed.set()
            group.cancel_scope.cancel()
        see(*await mirror.look(execution))


async def _followed(
    home: Path, mirror: Mirror, execution: ExecutionId, moved: Callable[[], None]
) -> EngineError | None:
    """None when the execution has ended, else why nobody tells of it any more."""
    known = mirror.states.get(execution)
    if known is not None and known.record.terminal:
        return None
    gone: EngineGone | None = None
    try:
        if await follow(home, execution, moved) is not None:
            return None
    except EngineGone as error:
        gone = error
    if await mirror.has_ended(execution):
        return None
    advice = f"execution {execution.name} goes on with: {resume_command(home)}"
    return EngineGone(f"{gone}; {advice}") if gone else BadInput(f"no engine works on home {home}; {advice}")
