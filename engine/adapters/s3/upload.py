"""One multipart upload: parts by number, then all of it or nothing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.faults import CALL_ERRORS, code_of
from engine.adapters.s3.writing import Target
from engine.model.errors import BlobNotFound, EngineError, Transient

if TYPE_CHECKING:
    from types_aiobotocore_s3.type_defs import CompletedPartTypeDef

MOST_PARTS = 10_000
"""S3's own limit."""
ABORT_SECONDS = 15.0
"""For taking back what a broken writer sent, also when the engine is told to stop."""

log = logging.getLogger(__name__)


class Upload:
    def __init__(self, calls: Calls, target: Target) -> None:
        self._calls, self._target = calls, target
        self._id = ""
        self._parts: dict[int, CompletedPartTypeDef] = {}
        self._bytes = 0

    async def begin(self) -> None:
        """Raises Transient, StoreRefused, StoreFailed, as every call here."""
        target = self._target

        async def call(scope: anyio.CancelScope) -> str:
            # Cut short, it would leave an upload whose number nobody knows.
            with anyio.fail_after(self._calls.time_for(0), shield=True):
                response = await self._calls.client.create_multipart_upload(
                    Bucket=target.bucket, Key=target.key, **target.extras
                )
            self._id = response["UploadId"]
            return self._id

        await self._calls.perform(target.uri, "written", call)

    async def send(self, number: int, data: bytes) -> None:
        """Part `number`, from 1 on. Parts may be sent in any order, and at once."""
        target = self._target
        if number > MOST_PARTS:
            raise Transient(f"{target.uri} can't be written: it has more than {MOST_PARTS} parts")

        async def call(scope: anyio.CancelScope) -> CompletedPartTypeDef:
            response = await self._calls.client.upload_part(
                Bucket=target.bucket, Key=target.key, UploadId=self._id, PartNumber=number, Body=data
            )
            part: CompletedPartTypeDef = {"PartNumber": number, "ETag": response["ETag"]}
            if "ChecksumCRC32" in response:
                part["ChecksumCRC32"] = response["ChecksumCRC32"]
            return part

        self._parts[number] = await self._calls.perform(target.uri, "written", call, len(data))
        self._bytes += len(data)

    async def complete(self) -> None:
        """Let the object appear."""
        target, parts = self._target, [self._parts[number] for number in sorted(self._parts)]
        tried = False

        async def call(scope: anyio.CancelScope) -> None:
            nonlocal tried
            again, tried = tried, True
            try:
                await self._calls.client.complete_multipart_upload(
                    Bucket=target.bucket, Key=target.key, UploadId=self._id, MultipartUpload={"Parts": parts}
                )
            except CALL_ERRORS as error:
                # The try before has done it, and its answer was lost.
                if again and code_of(error) == "NoSuchUpload" and await self._is_there():
                    return
                raise

        await self._calls.perform(target.uri, "written", call)
        self._id = ""

    async def abort(self) -> None:
        """Take back what was sent, whatever happens to this task."""
        if not self._id:
            return
        target = self._target

        async def call(scope: anyio.CancelScope) -> None:
            try:
                await self._calls.client.abort_multipart_upload(Bucket=target.bucket, Key=target.key, UploadId=self._id)
            except CALL_ERRORS as error:
                if code_of(error) != "NoSuchUpload":
                    raise

        with anyio.move_on_after(ABORT_SECONDS, shield=True) as patience:
            try:
                await self._calls.perform(target.uri, "deleted", call)
            except (EngineError, BlobNotFound) as problem:
                log.warning("an upload could not be taken back", extra={"uri": target.uri, "cause": str(problem)})
        if patience.cancelled_caught:
            log.warning("an upload could not be taken back in time", extra={"uri": target.uri})

    async def _is_there(self) -> bool:
        response = await self._calls.client.head_object(Bucket=self._target.bucket, Key=self._target.key)
        return response["ContentLength"] == self._bytes
