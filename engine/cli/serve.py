"""`propwash serve`: an engine that stays: it takes what commands ask of it until it is told to stop."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from config.settings import Settings
from engine.adapters.workers import helpers
from engine.app import Engine
from engine.cli.exitcodes import ExitCode
from engine.cli.request import load_settings
from engine.cli.screen import tell
from engine.cli.session import Session, run_session
from engine.homes import open_home
from engine.registry.entries import Registry
from engine.registry.schedules import Schedules

if TYPE_CHECKING:
    from engine.fleet import Fleet
    from engine.gateway.metrics import Metrics
    from engine.gateway.server import Gateway

LOOK_SECONDS = 15.0
"""Between two looks at which launch plans are active."""


def serve(
    home: Path, config: Path | None, sets: Sequence[str], workers: int = 1, *, ends_with_stdin: bool = False
) -> int:
    """Raises BadInput for a home that can't be used, and whatever stops the engine."""
    settings = load_settings(config, sets)
    if workers > 1:
        from engine.cli.workers import supervise

        return supervise(home, settings, workers, sys.argv[1:])
    service = _serve if settings.kafka.bootstrap is None else _serve_share
    return run_session(partial(_until_told, partial(service, home, settings), ends_with_stdin))


async def _until_told(service: Callable[[Session], Awaitable[int]], ends_with_stdin: bool, session: Session) -> int:
    """Until a signal comes, or what started this process as its worker is gone."""
    async with helpers() as tasks:
        if ends_with_stdin:
            tasks.start_soon(_watch_stdin)
        return await service(session)


async def _watch_stdin() -> None:
    await anyio.wait_readable(sys.stdin.fileno())
    os.kill(os.getpid(), signal.SIGTERM)


async def _keep_schedules(settings: Settings, engine: Engine) -> None:
    await Schedules(Registry(engine.blobs), engine.parts.clock, settings.schedules.catch_up).keep(engine)


async def _keep_all_schedules(settings: Settings, fleet: Fleet) -> None:
    """For all processes of the group. What another one has activated is found by looking."""
    catch_up = settings.schedules.catch_up
    await Schedules(Registry(fleet.blobs), fleet.clock, catch_up, LOOK_SECONDS).keep(fleet)


async def _serve(home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    service = partial(_keep_schedules, settings)
    async with (
        _tracing(settings) as traced,
        _answering(settings, home, traced) as gateway,
        open_home(home, settings, service=service, meter=gateway.metrics if gateway else traced) as engine,
    ):
        found = len(engine.unfinished())
        going_on = f", {found} unfinished go on" if found else ""
        tell(f"process {os.getpid()} works on home {home}{going_on}; it takes commands until Ctrl-C or SIGTERM")
        session.stops_with(ExitCode.SUCCEEDED)
        with gateway.serving(engine, engine.parts.hindrance) if gateway else nullcontext():
            await anyio.sleep_forever()
    return ExitCode.SUCCEEDED


async def _serve_share(home: Path, settings: Settings, session: Session) -> int:
    from engine.fleets import open_fleet

    session.deadline_seconds = settings.shutdown.deadline_seconds
    duties = [partial(_keep_all_schedules, settings)]
    async with _tracing(settings) as traced, _answering(settings, home, traced) as gateway:
        metrics = gateway.metrics if gateway else traced
        async with open_fleet(home, settings, duties, metrics) as fleet:
            if metrics is not None:
                metrics.tell_of_partitions(lambda: fleet.standing)
            kafka = settings.kafka
            tell(
                f"process {os.getpid()} works on {kafka.prefix}.events of {kafka.bootstrap} as a member of the group "
                f"{kafka.group}, until Ctrl-C or SIGTERM"
            )
            session.stops_with(ExitCode.SUCCEEDED)
            with gateway.serving(fleet, fleet.hindrance) if gateway else nullcontext():
                await anyio.sleep_forever()
    return ExitCode.SUCCEEDED


@asynccontextmanager
async def _tracing(settings: Settings) -> AsyncIterator[Metrics | None]:
    """What measures, and tells OpenTelemetry; None: nobody asks for traces. Raises BadInput."""
    if not settings.tracing.enabled:
        yield None
        return
    from engine.gateway.tracing import tracing

    async with tracing() as metrics:
        yield metrics


@asynccontextmanager
async def _answering(settings: Settings, home: Path, metrics: Metrics | None) -> AsyncIterator[Gateway | None]:
    """The HTTP server, if one is asked for: there before the restore, so that whoever asks learns that it goes on."""
    if settings.http.listen is None:
        yield None
        return
    from engine.gateway.server import answering

    async with answering(settings, home, settings.http.listen, metrics) as gateway:
        tell(f"answers HTTP at http://{gateway.address}")
        yield gateway
