from __future__ import annotations

import base64
import zlib

import pytest

from engine.model.errors import StoreRefused
from tests.contract.flaky import Answer, Fault, Request
from tests.contract.s3_world import spoilt_store

pytestmark = pytest.mark.service("s3")
MIB = 2**20


def accept(request: Request) -> Fault | None:
    """As a service that knows keys, which the server of the tests does not."""
    return Answer(200, "", "")


async def test_encryption_is_asked_for_with_each_object() -> None:
    async with spoilt_store(accept, encryption="aws:kms", kms_key="key-7") as (store, proxy):
        await store.put(store.uri("a"), b"x")
        async with store.writer(store.uri("b")) as writer:
            await writer.write(b"x")
        for request in proxy.seen:
            assert request.headers["x-amz-server-side-encryption"] == "aws:kms"
            assert request.headers["x-amz-server-side-encryption-aws-kms-key-id"] == "key-7"
        assert len(proxy.seen) == 2


async def test_encryption_is_asked_for_when_an_upload_begins() -> None:
    async with spoilt_store(lambda request: Answer(403, "AccessDenied"), encryption="AES256") as (store, proxy):
        with pytest.raises(StoreRefused):
            async with store.writer(store.uri("b")) as writer:
                await writer.write(bytes(9 * MIB))
        (begin,) = proxy.seen
        assert "uploads" in begin.query
        assert begin.headers["x-amz-server-side-encryption"] == "AES256"


@pytest.mark.parametrize("checksums", [True, False])
async def test_a_checksum_goes_with_each_write(checksums: bool) -> None:
    expected = base64.b64encode(zlib.crc32(b"some bytes").to_bytes(4, "big")).decode() if checksums else None
    async with spoilt_store(lambda request: None, checksums=checksums) as (store, proxy):
        await store.put(store.uri("a"), b"some bytes")
        async with store.writer(store.uri("b")) as writer:
            await writer.write(bytes(9 * MIB))
        small, *parts = (request for request in proxy.seen if request.method == "PUT")
        assert small.headers.get("x-amz-checksum-crc32") == expected
        assert [("x-amz-checksum-crc32" in part.headers) for part in parts] == [checksums] * 2
