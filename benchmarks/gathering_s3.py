"""The gather from S3 to S3, as a share of a plain aiobotocore copy of the same bytes, against the tests' server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session

from benchmarks.figures import Figure
from benchmarks.gathering import OFFLOADED, element_keys, made
from benchmarks.workloads import peak_megabytes
from engine.adapters.s3.blobs import S3Blobs
from engine.data.gather import gather
from tests.backing.session import KINDS, Servers
from tests.contract.s3_world import Place, credentials

PART = 8 * 1024 * 1024
AT_ONCE = 50
"""Calls of the plain copy: as many as the store of the engine makes."""


async def gathered_s3(count: int, length: int, name: str) -> list[Figure]:
    """Elements of one text each, gathered three times: the best."""
    async with place() as found:
        if found is None:
            return []
        effect, outputs, total = made(count, length)
        async with S3Blobs.open(found.fresh(), found.options) as blobs:
            uris = [blobs.uri(key) for key in element_keys(count)]
            await _fill(blobs, uris, outputs)
            before, best = peak_megabytes(), float("inf")
            for _ in range(3):
                begin = time.perf_counter()
                await gather(blobs, OFFLOADED, effect)
                best = min(best, time.perf_counter() - begin)
            grown = peak_megabytes() - before
            plain = min([await _copy(found, uris, blobs.uri("copy")) for _ in range(3)])
    note = f"memory +{grown:.0f} MB; ratio = share of a plain aiobotocore copy's speed"
    return [Figure(name, total / best, "MB/s", total / plain, plain / best, note)]


async def read_s3() -> list[Figure]:
    """10,000 small objects, read in one call."""
    async with place() as found:
        if found is None:
            return []
        async with S3Blobs.open(found.fresh(), found.options) as blobs:
            uris = [blobs.uri(f"n1/{number}") for number in range(10_000)]
            await _fill(blobs, uris, bytes(100))
            begin = time.perf_counter()
            assert await blobs.get_many(uris) == [bytes(100)] * 10_000
            seconds = time.perf_counter() - begin
    return [Figure("read-s3-10000", 10_000 / seconds, "objects/s", 0.0, 0.0, "100 bytes each, in one get_many")]


@asynccontextmanager
async def place() -> AsyncIterator[Place | None]:
    """A server of this run's own, or that of PROPWASH_TEST_S3; None where there can be none."""
    if reason := KINDS["s3"].absent():
        print(f"no S3 server: {reason}")
        yield None
        return
    servers = Servers()
    try:
        await anyio.to_thread.run_sync(servers.ensure, "s3")
        with credentials(Place.found()):
            yield Place.found()
    finally:
        await anyio.to_thread.run_sync(servers.stop)


async def _fill(blobs: S3Blobs, uris: Sequence[str], data: bytes) -> None:
    waiting = iter(uris)

    async def work() -> None:
        for uri in waiting:
            await blobs.put(uri, data)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)


async def _copy(found: Place, uris: Sequence[str], to: str) -> float:
    """Seconds to read the objects and write their bytes as one, as a short program would."""
    config = AioConfig(max_pool_connections=AT_ONCE, response_checksum_validation="when_required")
    prefix = f"s3://{found.bucket}/"
    async with get_session().create_client(
        "s3", endpoint_url=found.endpoint, region_name="us-east-1", config=config
    ) as s3:
        copy = _Copy(s3, found.bucket, to.removeprefix(prefix))
        begin = time.perf_counter()
        await copy.run([uri.removeprefix(prefix) for uri in uris])
        return time.perf_counter() - begin


class _Copy:
    def __init__(self, s3: Any, bucket: str, key: str) -> None:
        self.s3, self.names = s3, {"Bucket": bucket, "Key": key}
        self.bucket, self.slots, self.parts = bucket, anyio.Semaphore(AT_ONCE), dict[int, str]()

    async def run(self, keys: Sequence[str]) -> None:
        upload = (await self.s3.create_multipart_upload(**self.names))["UploadId"]
        buffer, number = bytearray(), 0
        async with anyio.create_task_group() as sending:
            for first in range(0, len(keys), AT_ONCE):
                buffer += await self.read(keys[first : first + AT_ONCE])
                while len(buffer) >= PART or (buffer and first + AT_ONCE >= len(keys)):
                    number += 1
                    sending.start_soon(self.send, upload, number, bytes(buffer[:PART]))
                    del buffer[:PART]
        listed = [{"PartNumber": number, "ETag": self.parts[number]} for number in sorted(self.parts)]
        await self.s3.complete_multipart_upload(**self.names, UploadId=upload, MultipartUpload={"Parts": listed})

    async def read(self, keys: Sequence[str]) -> bytes:
        data = [b""] * len(keys)

        async def one(place: int) -> None:
            async with self.slots:
                response = await self.s3.get_object(Bucket=self.bucket, Key=keys[place])
                async with response["Body"] as body:
                    data[place] = await body.read()

        async with anyio.create_task_group() as reading:
            for place in range(len(keys)):
                reading.start_soon(one, place)
        return b"".join(data)

    async def send(self, upload: str, number: int, body: bytes) -> None:
        async with self.slots:
            sent = await self.s3.upload_part(**self.names, UploadId=upload, PartNumber=number, Body=body)
        self.parts[number] = sent["ETag"]
