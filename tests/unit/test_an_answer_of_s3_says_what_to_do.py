from __future__ import annotations

import pytest
from botocore import exceptions

from engine.adapters.s3.faults import explain
from engine.model.errors import BlobNotFound, EngineError, StoreFailed, StoreRefused, Transient

URI = "s3://bucket/a/b"


def answer(status: int, code: str) -> exceptions.ClientError:
    error = {"Code": code, "Message": "as it is"}
    return exceptions.ClientError({"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject")


@pytest.mark.parametrize(
    ("status", "code", "meaning"),
    [
        (503, "SlowDown", Transient),
        (500, "InternalError", Transient),
        (502, "502", Transient),
        (429, "TooManyRequests", Transient),
        (409, "OperationAborted", Transient),
        (400, "RequestTimeout", Transient),
        (400, "BadDigest", Transient),
        (404, "NoSuchKey", BlobNotFound),
        (404, "404", BlobNotFound),
        (404, "NoSuchBucket", StoreFailed),
        (403, "InvalidAccessKeyId", StoreFailed),
        (403, "SignatureDoesNotMatch", StoreFailed),
        (400, "ExpiredToken", StoreFailed),
        (507, "XMinioStorageFull", StoreFailed),
        (403, "AccessDenied", StoreRefused),
        (403, "403", StoreRefused),
        (400, "InvalidArgument", StoreRefused),
        (501, "NotImplemented", StoreRefused),
    ],
)
def test_each_code_has_one_meaning(status: int, code: str, meaning: type[EngineError]) -> None:
    found = explain(answer(status, code), URI, "written")
    assert type(found) is meaning
    if meaning is not BlobNotFound:
        assert str(found).startswith(f"{URI} can't be written: the service answers {status} {code} (as it is)")


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (exceptions.EndpointConnectionError(endpoint_url="http://x"), Transient),
        (exceptions.ReadTimeoutError(endpoint_url="http://x"), Transient),
        (exceptions.IncompleteReadError(actual_bytes=1, expected_bytes=2), Transient),
        (exceptions.MetadataRetrievalError(error_msg="no role yet"), Transient),
        (ConnectionResetError("gone"), Transient),
        (TimeoutError(), Transient),
        (exceptions.NoCredentialsError(), StoreFailed),
        (exceptions.ParamValidationError(report="wrong"), StoreRefused),
    ],
)
def test_what_is_no_answer_has_one_too(error: Exception, meaning: type[EngineError]) -> None:
    found = explain(error, URI, "read")
    assert type(found) is meaning
    assert str(found).startswith(f"{URI} can't be read: ")
