"""Settings of the store of values."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.group import Group
from config.values import Count, Seconds, Size, StoreUri, Text, Url

MIB = 2**20


class Store(Group):
    """The store of values."""

    uri: StoreUri | None = None
    """Where values are kept. null = in a folder of the home, or where the home has kept them until now.
    `s3://BUCKET/PREFIX` = on S3; the bucket must be there. `file:///FOLDER` = in a folder elsewhere. A home stays with
    the store that it began with, and should have a prefix or a folder of its own. Engines that share a log on Kafka
    share one store, which all of them reach by this URI. `--store` sets it, too."""
    durable: bool = False
    """Wait until each value the engine writes is on the disk, and not only what a submission refers to (its package and
    its inputs, always). Off by default: tasks write most values themselves and do not wait for the disk either, and a
    crash of the engine or of a task loses nothing without it; only a power cut does."""


class S3(Group):
    """The store on S3, or on a service that speaks its protocol. Credentials are no settings: the engine and the tasks
    find them as every AWS tool does (environment variables `AWS_ACCESS_KEY_ID` ..., shared files, web identity,
    container or instance role)."""

    endpoint: Url | None = None
    """URL of the service. null = that of AWS. Tasks get it as `FLYTE_AWS_ENDPOINT`."""
    region: Text | None = None
    """Region of the bucket. null = what the environment or the shared files say. Tasks get it as
    `AWS_DEFAULT_REGION`."""
    addressing: Literal["auto", "path", "virtual"] = "auto"
    """Where a bucket's name stands in URLs: in the path, or before the host's name. `auto`: in the path where there is
    an endpoint."""
    max_connections: Count = 50
    """Calls at once, at the most; the others wait for a free connection."""
    connect_seconds: Annotated[Seconds, Field(gt=0)] = 5.0
    """Seconds that a connection may take."""
    read_seconds: Annotated[Seconds, Field(gt=0)] = 30.0
    """Seconds of silence after which a call is given up and tried again. Bodies get time by their size on top."""
    patience_seconds: Seconds = 60.0
    """Seconds for which a call is tried again, longer and longer apart, when the service is busy, fails or can't be
    reached. After that the effect that needs it begins anew, for as long as it takes; no node fails for it."""
    part_size: Annotated[Size, Field(ge=5 * MIB, le=5 * 1024 * MIB)] = 8 * MIB
    """Bytes of one part of a large object. S3 takes 10,000 parts of an object, of 5MiB at least."""
    parallel_parts: Count = 8
    """Parts on their way at once, of all large objects together. The engine's memory for writing is about
    `part_size` times this, and one more part for each object that is being written."""
    encryption: Literal["AES256", "aws:kms"] | None = None
    """Server-side encryption that is asked for with every object of the engine's. null = what the bucket says. Tasks
    write most values themselves, so set the bucket's default encryption as well."""
    kms_key: Text | None = None
    """Id or ARN of the key for `aws:kms`. null = the account's default key."""
    checksums: bool = True
    """Send a checksum with every write, so that the service refuses what was damaged on its way. Off for services that
    do not know these headers."""
