"""A process of a service on Kafka, from its settings: equipment on a local folder, and its share of the events."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from engine.adapters.kafka import tenants, topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.follower import source_of
from engine.adapters.sqlite.home import LOCK_FILE, LOG_FILE, HomeLock
from engine.adapters.sqlite.projection import SqliteProjection
from engine.brokers import clients_of, instance_name
from engine.equipment import RUNNING_FOLDER, equipped
from engine.fleet import Duty, Fleet, View, fleet_on
from engine.loop.watchers import Watchers
from engine.model.errors import BadInput

if TYPE_CHECKING:
    from config.settings import Settings
    from engine.loop.meter import Meter

VIEW_FILE = "view.db"
"""Of the home; it may be deleted while no process works there."""


@asynccontextmanager
async def open_fleet(
    home: Path, settings: Settings, duties: Sequence[Duty] = (), meter: Meter | None = None
) -> AsyncIterator[Fleet]:
    """The engines of this process, until the block is left.

    home: a folder of this machine, for this process alone, where its tasks work; nothing that counts is left there.
    Raises BadInput, HomeInUse, LogFailed; others of EngineError, in an exception group, when the engines can't go on.
    """
    check_fleet(settings)
    store = settings.store.uri or ""
    clients = await to_thread.run_sync(clients_of, settings.kafka, home, os.environ, store)
    name = f"{socket.gethostname()}:{instance_name(home)}"
    async with _locked(home):
        await topics.prepare(clients)
        await tenants.check(clients)
        async with (
            _view(home, settings, clients) as view,
            equipped(home, settings, name, meter=meter) as equipment,
            fleet_on(equipment, clients, duties, view) as fleet,
        ):
            yield fleet


@asynccontextmanager
async def _view(home: Path, settings: Settings, clients: Clients) -> AsyncIterator[View | None]:
    """Of everything that the topics tell, where somebody may ask: it costs something to follow them."""
    if settings.http.listen is None or not settings.http.api:
        yield None
        return
    watchers, source = Watchers(), source_of(clients.options)
    keep_seconds = settings.kafka.history_seconds
    async with SqliteProjection.open(home / VIEW_FILE, source, keep_seconds, watchers.tell) as projection:
        yield View(projection, watchers)


def check_fleet(settings: Settings) -> None:
    """Raises BadInput where engines of several processes could not work together."""
    if settings.store.uri is None:
        raise BadInput(
            "store.uri: engines on Kafka share their values, so they need a store that all of them reach: "
            "s3://BUCKET/PREFIX, or file:///FOLDER; nothing was started"
        )


@asynccontextmanager
async def _locked(home: Path) -> AsyncIterator[None]:
    lock = await to_thread.run_sync(_lock, home)
    try:
        yield
    finally:
        lock.release()


def _lock(home: Path) -> HomeLock:
    """Blocking. The runner deletes what it finds in its folder, so that must be an engine's. Raises BadInput."""
    problem = ""
    if (home / LOG_FILE).exists():
        problem = f"it holds a log of its own ({LOG_FILE}), whose executions would never end"
    elif (home / RUNNING_FOLDER).exists() and not (home / LOCK_FILE).exists():
        problem = f"it holds a folder {RUNNING_FOLDER!r}, which an engine uses for itself, but was never an engine's"
    if problem:
        raise BadInput(
            f"{home} can't be the folder of an engine on Kafka: {problem}; choose another; nothing was changed"
        )
    return HomeLock(home)
