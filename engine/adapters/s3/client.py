"""The client of aiobotocore, as the options ask for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore.loaders import Loader

from engine.adapters.s3.options import S3Options

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client

ANY_REGION = "us-east-1"
"""For services with an endpoint of their own: they know no regions, but requests are signed with one."""


@asynccontextmanager
async def connect(options: S3Options) -> AsyncIterator[S3Client]:
    """Credentials come from botocore's chain: environment, shared files, web identity, container or instance role."""
    session = get_session()
    session.register_component("data_loader", _models())
    # Nobody asks when an object was written, and reading dates takes a tenth of a call's time.
    session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=str)
    region = options.region or session.get_config_variable("region") or ANY_REGION
    client = session.create_client("s3", region_name=region, endpoint_url=options.endpoint, config=_config(options))
    async with client as connected:
        yield connected


def _config(options: S3Options) -> AioConfig:
    checksum = "when_supported" if options.checksums else "when_required"
    return AioConfig(
        max_pool_connections=options.max_connections,
        connect_timeout=options.connect_seconds,
        read_timeout=options.read_seconds,
        retries={"total_max_attempts": 1},
        request_checksum_calculation=checksum,
        # A service may answer a range with the checksum of the whole object; lengths are checked in any case.
        response_checksum_validation="when_required",
        s3={"addressing_style": options.addressing},
        user_agent="propwash",
    )


@cache
def _models() -> Loader:
    """What botocore knows of AWS, read from its files once a process."""
    loader: Loader = get_session().get_component("data_loader")
    return loader
