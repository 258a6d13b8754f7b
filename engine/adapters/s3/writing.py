"""Where an object is written to, and how; and small objects, which go in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.options import S3Options


@dataclass(frozen=True, slots=True)
class Target:
    uri: str
    bucket: str
    key: str
    extras: Mapping[str, Any]
    """Of every request that begins an object."""


def extras_of(options: S3Options) -> dict[str, Any]:
    """What the options ask of every object."""
    found: dict[str, Any] = {}
    if options.encryption:
        found["ServerSideEncryption"] = options.encryption
    if options.kms_key:
        found["SSEKMSKeyId"] = options.kms_key
    return found


async def put(calls: Calls, target: Target, data: bytes) -> None:
    """Write an object in one call; a try whose answer was lost is made again, with the same bytes."""

    async def call(scope: anyio.CancelScope) -> None:
        await calls.client.put_object(Bucket=target.bucket, Key=target.key, Body=data, **target.extras)

    await calls.perform(target.uri, "written", call, len(data))
