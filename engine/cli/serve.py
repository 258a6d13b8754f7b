"""`propwash serve`: an engine that stays: it takes what commands ask of it until it is told to stop."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from config.settings import Settings
from engine.app import Engine
from engine.cli.exitcodes import ExitCode
from engine.cli.request import load_settings
from engine.cli.screen import tell
from engine.cli.session import Session, run_session
from engine.homes import open_home
from engine.registry.entries import Registry
from engine.registry.schedules import Schedules

if TYPE_CHECKING:
    from engine.gateway.server import Gateway


def serve(home: Path, config: Path | None, sets: Sequence[str]) -> int:
    """Raises BadInput for a home that can't be used, and whatever stops the engine."""
    return run_session(partial(_serve, home, load_settings(config, sets)))


async def _keep_schedules(settings: Settings, engine: Engine) -> None:
    await Schedules(Registry(engine.blobs), engine.parts.clock, settings.schedules.catch_up).keep(engine)


async def _serve(home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    service = partial(_keep_schedules, settings)
    async with (
        _answering(settings, home) as gateway,
        open_home(home, settings, service=service, meter=gateway.metrics if gateway else None) as engine,
    ):
        found = len(engine.unfinished())
        going_on = f", {found} unfinished go on" if found else ""
        tell(f"process {os.getpid()} works on home {home}{going_on}; it takes commands until Ctrl-C or SIGTERM")
        session.stops_with(ExitCode.SUCCEEDED)
        with gateway.serving(engine) if gateway else nullcontext():
            await anyio.sleep_forever()
    return ExitCode.SUCCEEDED


@asynccontextmanager
async def _answering(settings: Settings, home: Path) -> AsyncIterator[Gateway | None]:
    """The HTTP server, if one is asked for: there before the restore, so that whoever asks learns that it goes on."""
    if settings.http.listen is None:
        yield None
        return
    from engine.gateway.server import answering

    async with answering(settings, home, settings.http.listen) as gateway:
        tell(f"answers HTTP at http://{gateway.address}")
        yield gateway
