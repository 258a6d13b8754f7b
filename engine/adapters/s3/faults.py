"""What an error of a call means for the engine: it may pass, the object is not there, or the operator is needed."""

from __future__ import annotations

from aiohttp import ClientError as HttpError
from botocore import exceptions

from engine.model.errors import BlobNotFound, EngineError, StoreFailed, StoreRefused, Transient

CALL_ERRORS = (exceptions.ClientError, exceptions.BotoCoreError, HttpError, OSError, TimeoutError)
"""All that a call may raise on its own account."""
_MISSING = {"NoSuchKey", "NotFound", "404"}
_OPERATOR = {
    "AccountProblem",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "NoSuchBucket",
    "NotSignedUp",
    "PermanentRedirect",
    "QuotaExceeded",
    "SignatureDoesNotMatch",
    "XMinioStorageFull",
}
"""Every call of the engine would fail likewise until somebody has repaired it."""
_PASSING = {
    "BadDigest",
    "BandwidthLimitExceeded",
    "IncompleteBody",
    "InternalError",
    "OperationAborted",
    "RequestLimitExceeded",
    "RequestTimeout",
    "RequestTimeTooSkewed",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequests",
    "XAmzContentChecksumMismatch",
    "XAmzContentSHA256Mismatch",
}
_PASSING_STATUS = {408, 409, 429}
_CREDENTIALS = (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.ProfileNotFound)
_CALLERS = (exceptions.ParamValidationError, exceptions.ConfigNotFound)


def explain(error: Exception, uri: str, verb: str) -> EngineError:
    """`verb`: read, written, listed, deleted. One of BlobNotFound, Transient, StoreRefused, StoreFailed."""
    if isinstance(error, exceptions.ClientError):
        return _answer(error, uri, verb)
    if isinstance(error, _CREDENTIALS):
        return _stopped(f"{uri} can't be {verb}: {error}")
    if isinstance(error, _CALLERS):
        return StoreRefused(f"{uri} can't be {verb}: {error}")
    return Transient(f"{uri} can't be {verb}: {_named(error)}")


def code_of(error: Exception) -> str:
    """S3's own name of an error, or nothing."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, exceptions.ClientError) else ""


def _answer(error: exceptions.ClientError, uri: str, verb: str) -> EngineError:
    code, status = code_of(error), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    message = error.response.get("Error", {}).get("Message", "")
    text = f"{uri} can't be {verb}: the service answers {status} {code}{f' ({message})' if message else ''}"
    if code in _OPERATOR or status == 507:
        return _stopped(text)
    if code in _MISSING:
        return BlobNotFound(uri)
    if code in _PASSING or status in _PASSING_STATUS or (status >= 500 and status != 501):
        return Transient(text)
    return StoreRefused(text)


def _stopped(text: str) -> StoreFailed:
    return StoreFailed(f"{text}. The engine stops; nothing acknowledged is lost, a resume goes on")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
