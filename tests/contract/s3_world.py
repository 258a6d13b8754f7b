"""Stores on the S3 server of this run, each below a prefix of its own."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from engine.adapters.s3.blobs import S3Blobs
from engine.adapters.s3.client import connect
from engine.adapters.s3.options import S3Options
from tests.backing.session import address
from tests.contract.flaky import Choose, Fault, Flaky, Request, flaky

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client


@dataclass(frozen=True)
class Place:
    """What PROPWASH_TEST_S3 says: http://KEY:SECRET@HOST:PORT/BUCKET."""

    endpoint: str
    bucket: str
    key: str
    secret: str

    @classmethod
    def found(cls) -> Place:
        parts = urlsplit(address("s3"))
        endpoint = f"{parts.scheme}://{parts.hostname}:{parts.port}"
        return cls(endpoint, parts.path.strip("/"), parts.username or "", parts.password or "")

    @property
    def options(self) -> S3Options:
        return S3Options(endpoint=self.endpoint)

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs to be let in."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def fresh(self) -> str:
        """The URI of a prefix that nobody has used."""
        return f"s3://{self.bucket}/{uuid.uuid4().hex}"


@contextmanager
def credentials(place: Place) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in place.environ.items():
            patch.setenv(name, value)
        yield


@asynccontextmanager
async def spoilt_store(choose: Choose, **options: object) -> AsyncIterator[tuple[S3Blobs, Flaky]]:
    """A store behind a proxy that spoils what `choose` chooses. The store's own first call has passed unspoilt."""
    place, ready = Place.found(), False

    def when_ready(request: Request) -> Fault | None:
        return choose(request) if ready else None

    async with (
        flaky(place.endpoint, when_ready) as (proxy, endpoint),
        s3_store(**{"patience_seconds": 10.0, **options, "endpoint": endpoint}) as store,
    ):
        ready = True
        proxy.seen.clear()
        yield store, proxy


async def unfinished(store: S3Blobs) -> list[str]:
    """The keys of multipart uploads that are neither complete nor aborted."""
    place = Place.found()
    async with s3_client(place) as client:
        response = await client.list_multipart_uploads(Bucket=place.bucket)
    prefix = store.uri("x").removesuffix("x").removeprefix(f"s3://{place.bucket}/")
    return [upload["Key"] for upload in response.get("Uploads", ()) if upload["Key"].startswith(prefix)]


@asynccontextmanager
async def s3_client(place: Place) -> AsyncIterator[S3Client]:
    """The server itself, past every proxy and every adapter."""
    with credentials(place):
        async with connect(place.options) as client:
            yield client


@asynccontextmanager
async def s3_store(**options: object) -> AsyncIterator[S3Blobs]:
    """A store on a prefix of its own; `options` over those that reach the server."""
    place = Place.found()
    with credentials(place):
        async with S3Blobs.open(place.fresh(), replace(place.options, **options)) as store:  # type: ignore[arg-type]
            yield store
