"""The registry of a home, for commands: it lies in the home's store, so it can be read and written beside an engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from engine.adapters.durable_folder import make_durable
from engine.homes import stay_in_place
from engine.model.errors import BadInput
from engine.registry.entries import Registry
from engine.stores import look_at_store, open_store

if TYPE_CHECKING:
    from config.settings import Settings


@asynccontextmanager
async def open_registry(home: Path, settings: Settings) -> AsyncIterator[Registry]:
    """To register: the home is made if it is not there. Raises BadInput for a home that can't be used, StoreFailed."""
    await to_thread.run_sync(_prepare, home)
    async with open_store(home, settings) as (blobs, _):
        yield Registry(blobs)


@asynccontextmanager
async def read_registry(home: Path, settings: Settings | None = None) -> AsyncIterator[Registry]:
    """For a look; where no home is, it is empty."""
    async with look_at_store(home, settings) as blobs:
        yield Registry(blobs)


def _prepare(home: Path) -> None:
    try:
        make_durable(home)
        stay_in_place(home)
    except OSError as error:
        raise BadInput(
            f"home {home} can't be used: {error.strerror} ({error.filename}); nothing was changed"
        ) from error
