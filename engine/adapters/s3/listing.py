"""Listing and deleting what lies below a prefix, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from botocore.exceptions import ClientError

from engine.adapters.s3.calls import Calls

if TYPE_CHECKING:
    from types_aiobotocore_s3.type_defs import ListObjectsV2OutputTypeDef

PAGE = 1000
"""Keys that S3 lists or deletes in one call, at the most."""


class Listing:
    def __init__(self, calls: Calls, bucket: str) -> None:
        self._calls, self._bucket = calls, bucket

    async def pages(self, uri: str, prefix: str, most: int = PAGE) -> AsyncIterator[list[str]]:
        """The keys that start with `prefix`; `uri` is what an error names."""
        token = ""
        while True:
            page = await self._page(uri, prefix, token, most)
            yield [found["Key"] for found in page.get("Contents", ())]
            token = page.get("NextContinuationToken", "")
            if not token:
                return

    async def delete(self, uri: str, keys: Sequence[str]) -> None:
        """At most PAGE keys; those that are not there are no error."""

        async def call(scope: anyio.CancelScope) -> None:
            response = await self._calls.client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
            for error in response.get("Errors", ()):
                message = f"{error.get('Message', '')}: key {error.get('Key', '')}"
                raise ClientError({"Error": {"Code": error.get("Code", ""), "Message": message}}, "DeleteObjects")

        await self._calls.perform(uri, "deleted", call)

    async def _page(self, uri: str, prefix: str, token: str, most: int) -> ListObjectsV2OutputTypeDef:
        more: dict[str, Any] = {"ContinuationToken": token} if token else {}

        async def call(scope: anyio.CancelScope) -> ListObjectsV2OutputTypeDef:
            return await self._calls.client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=most, **more)

        return await self._calls.perform(uri, "listed", call)
