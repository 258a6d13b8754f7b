"""Which store a home keeps its values in: a folder, its own or another, or S3. Once begun, a home stays with it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from anyio import to_thread
from msgspec import Struct

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.names import SCHEME
from engine.model.errors import BadInput
from engine.ports.blobstore import BlobStore

if TYPE_CHECKING:
    from config.settings import Settings
    from config.stores import S3
    from engine.adapters.s3.options import S3Options

STORE_FOLDER = "store"
"""Holds the values of a home that keeps them itself."""
STORE_FILE = "store.json"
"""Says where the values are of a home that keeps them elsewhere."""


class Elsewhere(Struct, frozen=True, omit_defaults=True):
    """What a look at the home needs to find its values. Credentials are not kept."""

    uri: str
    endpoint: str | None = None
    region: str | None = None
    addressing: Literal["auto", "path", "virtual"] = "auto"


@asynccontextmanager
async def open_store(home: Path, settings: Settings) -> AsyncIterator[tuple[BlobStore, dict[str, str]]]:
    """The store of a home, for its engine, and the environment that tasks need to reach it.

    Raises BadInput, StoreFailed, StoreRefused, Transient.
    """
    place = await to_thread.run_sync(_choose, home, settings)
    if place is None or place.uri.startswith(SCHEME):
        async with FileBlobs.open(_folder(home, place), durable=settings.store.durable, porter=True) as files:
            await to_thread.run_sync(_remember, home, place)
            yield files, {}
        return
    from engine.adapters.s3.blobs import S3Blobs
    from engine.adapters.s3.environment import task_environment

    options = _options(settings.s3, place)
    async with S3Blobs.open(place.uri, options) as blobs:
        await to_thread.run_sync(_remember, home, place)
        yield blobs, task_environment(options)


@asynccontextmanager
async def open_shared(settings: Settings) -> AsyncIterator[BlobStore]:
    """The store that the settings name, for somebody who has no home. Raises BadInput, StoreFailed."""
    from engine.adapters.s3.blobs import S3Blobs

    uri, given = settings.store.uri, settings.s3
    if not uri:
        raise BadInput("store.uri: not set, expected s3://BUCKET/PREFIX or file:///FOLDER; nothing was started")
    place = Elsewhere(uri.rstrip("/"), given.endpoint, given.region, given.addressing)
    if place.uri.startswith(SCHEME):
        async with FileBlobs.open(Path(place.uri.removeprefix(SCHEME)), durable=settings.store.durable) as files:
            yield files
        return
    async with S3Blobs.open(place.uri, _options(given, place)) as blobs:
        yield blobs


@asynccontextmanager
async def look_at_store(home: Path, settings: Settings | None = None) -> AsyncIterator[BlobStore]:
    """The store of a home as it is, for a look. `settings`: how S3 is asked; None: as the environment says.

    Raises BadInput; StoreFailed where it can't be reached.
    """
    place = await to_thread.run_sync(_remembered, home)
    if place is None or place.uri.startswith(SCHEME):
        async with FileBlobs.open_readonly(_folder(home, place)) as files:
            yield files
        return
    from engine.adapters.s3.blobs import S3Blobs

    asked = await to_thread.run_sync(settings_around) if settings is None else settings
    async with S3Blobs.open(place.uri, _options(asked.s3, _reached(place, asked.s3))) as blobs:
        yield blobs


def settings_around() -> Settings:
    """Blocking. Those of a command that takes none of its own: PROPWASH_CONFIG and the environment. Raises BadInput."""
    from config.load import SettingsError, load

    try:
        return load(None, (), os.environ)
    except SettingsError as error:
        raise BadInput(str(error)) from error


def _folder(home: Path, place: Elsewhere | None) -> Path:
    """Of values on local files."""
    return Path(place.uri.removeprefix(SCHEME)) if place else home / STORE_FOLDER


def _remember(home: Path, place: Elsewhere | None) -> None:
    """Blocking. Only once it is open: a store that can't be opened binds no home."""
    if place is not None:
        (home / STORE_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(place)))


def _remembered(home: Path) -> Elsewhere | None:
    """Blocking."""
    try:
        return msgspec.json.decode((home / STORE_FILE).read_bytes(), type=Elsewhere)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{home / STORE_FILE} can't be read: {error}; nothing was started") from error


def _choose(home: Path, settings: Settings) -> Elsewhere | None:
    """Blocking. Where the values of this home are and will be; None: in its own folder. Raises BadInput."""
    known, wanted = _remembered(home), settings.store.uri and settings.store.uri.rstrip("/")
    before = known.uri if known else str(home / STORE_FOLDER) if (home / STORE_FOLDER).exists() else wanted
    if wanted and wanted != before:
        raise BadInput(
            f"home {home} keeps its values at {before}, and its executions refer to them there, so it can't go on with "
            f"{wanted}; leave the setting store.uri out, or use another home; nothing was started"
        )
    uri = known.uri if known else wanted
    if not uri:
        return None
    return _reached(known or Elsewhere(uri), settings.s3)


def _reached(kept: Elsewhere, given: S3) -> Elsewhere:
    """How a store is reached now: by what the settings say, else by what the home remembers."""
    addressing = kept.addressing if given.addressing == "auto" else given.addressing
    return Elsewhere(kept.uri, given.endpoint or kept.endpoint, given.region or kept.region, addressing)


def _options(settings: S3, place: Elsewhere) -> S3Options:
    from engine.adapters.s3.options import S3Options

    return S3Options(
        endpoint=place.endpoint,
        region=place.region,
        addressing=place.addressing,
        max_connections=settings.max_connections,
        connect_seconds=settings.connect_seconds,
        read_seconds=settings.read_seconds,
        patience_seconds=settings.patience_seconds,
        part_bytes=settings.part_size,
        parallel_parts=settings.parallel_parts,
        encryption=settings.encryption,
        kms_key=settings.kms_key,
        checksums=settings.checksums,
    )
