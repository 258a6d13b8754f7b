"""Homes: folders of this machine that hold one engine's log, store and running tasks. Composes an engine on one."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from engine.adapters.control.listener import listening, serve
from engine.adapters.sqlite.home import LOG_FILE
from engine.adapters.sqlite.log import SqliteLog
from engine.adapters.sqlite.schema import Synchronous
from engine.equipment import RUNNING_FOLDER, equipped
from engine.loop.hooks import Hook, nothing
from engine.model.errors import BadInput
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Journal, Names
from engine.stores import look_at_store

if TYPE_CHECKING:
    from anyio.abc import SocketListener

    from config.settings import Settings
    from engine.app import Door, Engine, Parts
    from engine.loop.meter import Meter
    from engine.loop.watchers import Watchers

PLACE_FILE = "made-at"
"""Holds the absolute path of the home."""


@dataclass(frozen=True, slots=True)
class HomeView:
    """A home as it was at its engine's last commit."""

    log: Journal
    blobs: BlobStore


@dataclass(frozen=True, slots=True)
class HomeLook(HomeView):
    names: Names


@asynccontextmanager
async def read_home(home: Path, settings: Settings | None = None) -> AsyncIterator[HomeLook]:
    """A look at a home, while an engine works on it or not: takes no lock, creates nothing.

    Raises BadInput where no home is, HomeTooNew, LogFailed.
    """
    async with SqliteLog.open_readonly(home) as log, look_at_store(home, settings) as blobs:
        yield HomeLook(log, blobs, log)


@asynccontextmanager
async def open_home(
    home: Path,
    settings: Settings,
    hook: Hook = nothing,
    watchers: Watchers | None = None,
    *,
    idle: bool = False,
    service: Door | None = None,
    meter: Meter | None = None,
) -> AsyncIterator[Engine]:
    """An engine on a home. It goes on with all that was left unfinished there, until the block is left.

    `idle`: it takes in what is asked of it and starts nothing. `service`: it stays, and does this beside. Raises as
    `open_parts`; LogFailed and others of EngineError, in an exception group, when the engine can't go on.
    """
    from engine.app import running

    async with (
        open_parts(home, settings, hook, service=service, meter=meter) as parts,
        running(parts, watchers, idle=idle) as engine,
    ):
        yield engine


@asynccontextmanager
async def open_parts(
    home: Path,
    settings: Settings,
    hook: Hook = nothing,
    *,
    warm: bool = False,
    service: Door | None = None,
    meter: Meter | None = None,
) -> AsyncIterator[Parts]:
    """The parts of an engine on a home, which is made if it is not there; nothing runs yet.

    Leaving goes by stages, each bounded in time: what `running` does, then the runner, then the log. `warm`: make the
    first task's start quick. Raises HomeInUse, HomeTooNew, BadInput, LogFailed.
    """
    await _refuse_other_folder(home)
    async with (
        SqliteLog.open(home, synchronous=Synchronous(settings.log.synchronous)) as log,
        listening(home) as listener,
    ):
        here = await to_thread.run_sync(stay_in_place, home)
        # One engine at a time works on a home: what the one before it had reserved is free.
        async with equipped(home, settings, f"{socket.gethostname()}:{here}", hook, meter, warm=warm) as equipment:
            yield equipment.parts(log, _doors(listener, service, log))


def _doors(listener: SocketListener | None, service: Door | None, log: SqliteLog) -> list[Door]:
    found = [] if service is None else [service]
    if listener is not None:
        found.append(partial(_answer_commands, listener, service is not None, log))
    return found


async def _answer_commands(listener: SocketListener, stays: bool, log: SqliteLog, engine: Engine) -> None:
    from engine.gateway.commands import Desk

    await serve(listener, Desk(engine, log.replay).answer, stays=stays)


def stay_in_place(home: Path) -> str:
    """Blocking. The absolute path of a home.

    States and values hold absolute URIs, so a home that was moved or copied can't be worked on. Raises BadInput, before
    anything of the home is touched.
    """
    here, mark = os.path.realpath(home), home / PLACE_FILE
    made_at = mark.read_text() if mark.exists() else ""
    if not made_at:
        mark.write_text(here)
    elif made_at != here:
        raise BadInput(
            f"home {home} was made at {made_at} and is now at {here}; its executions refer to their values by the old "
            "place, so it can't go on here. Move it back; nothing was started or changed"
        )
    return here


async def _refuse_other_folder(home: Path) -> None:
    """The runner deletes what it finds in its folder, so that must be an engine's: a home has a log before it."""
    folder = anyio.Path(home / RUNNING_FOLDER)
    if await folder.exists() and not await anyio.Path(home / LOG_FILE).exists():
        raise BadInput(
            f"{home} can't be a home: it holds a folder {RUNNING_FOLDER!r}, which a home uses for itself, but no "
            f"{LOG_FILE}; choose another folder; nothing was changed"
        )
