"""Reading objects and parts of them: what a slice of the object would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.faults import code_of
from engine.model.errors import BlobNotFound

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from types_aiobotocore_s3.type_defs import GetObjectOutputTypeDef


class Reader:
    def __init__(self, calls: Calls, bucket: str) -> None:
        self._calls, self._bucket = calls, bucket

    async def get(self, uri: str, key: str, start: int, end: int | None) -> bytes:
        """Raises BlobNotFound and others of faults."""
        if start < 0 or (end is not None and (end < 0 or end <= start)):
            size = await self.size(uri, key)
            if size is None:
                raise BlobNotFound(uri)
            start, end, _ = slice(start, end).indices(size)
            if end <= start:
                return b""
        wanted = slice(start, end)

        async def call(scope: anyio.CancelScope) -> bytes:
            return await self._get(key, wanted, scope)

        return await self._calls.perform(uri, "read", call)

    async def size(self, uri: str, key: str) -> int | None:
        """Bytes, or None where there is no such object."""

        async def call(scope: anyio.CancelScope) -> int:
            return (await self._calls.client.head_object(Bucket=self._bucket, Key=key))["ContentLength"]

        try:
            return await self._calls.perform(uri, "read", call)
        except BlobNotFound:
            return None

    async def _get(self, key: str, wanted: slice, scope: anyio.CancelScope) -> bytes:
        """`wanted` is a slice that a range can say: it counts from the start and is not empty."""
        span = _range(wanted)
        client = self._calls.client
        try:
            if span:
                response = await client.get_object(Bucket=self._bucket, Key=key, Range=span)
            else:
                response = await client.get_object(Bucket=self._bucket, Key=key)
        except client.exceptions.ClientError as error:
            if _lies_beyond(error):
                return b""
            raise
        data = await self._body(response, scope)
        # A service that knows no ranges sends all of it.
        return data[wanted] if span and "ContentRange" not in response else data

    async def _body(self, response: GetObjectOutputTypeDef, scope: anyio.CancelScope) -> bytes:
        length = response["ContentLength"]
        scope.deadline = anyio.current_time() + self._calls.time_for(length)
        async with response["Body"] as body:
            data: bytes = await body.read()
        return data


def _range(wanted: slice) -> str:
    """As the header says it; empty for the whole object."""
    start, end = wanted.start, wanted.stop
    if end is not None:
        return f"bytes={start}-{end - 1}"
    return f"bytes={start}-" if start else ""


def _lies_beyond(error: ClientError) -> bool:
    """The object is there, and ends before the range begins."""
    return code_of(error) in ("InvalidRange", "416")
