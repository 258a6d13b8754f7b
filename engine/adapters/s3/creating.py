"""Writing an object that is not there yet: of several that try at once, one succeeds."""

from __future__ import annotations

import logging
import secrets

import anyio

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.faults import CALL_ERRORS, code_of
from engine.adapters.s3.reading import Reader
from engine.adapters.s3.writing import Target
from engine.model.errors import BlobNotFound

TOKEN = "propwash-creator"
"""Key of an object's metadata that tells whose write it is."""
REFUSED = ("PreconditionFailed", "412")

log = logging.getLogger(__name__)


class Creator:
    """Asks the service to refuse a second write (If-None-Match), after it has seen that the service knows how.

    A service that ignores the question is asked for the object first: then one succeeds within one engine, and of
    several engines at the same moment several may.
    """

    def __init__(self, calls: Calls, reader: Reader) -> None:
        self._calls, self._reader = calls, reader
        self._knows_how: bool | None = None
        self._alone = anyio.Lock()

    async def create(self, target: Target, data: bytes) -> bool:
        """False, and nothing is changed, where there is an object. Raises as every write."""
        if self._knows_how:
            return await self._ask(target, data, secrets.token_hex(16))
        async with self._alone:
            if await self._reader.size(target.uri, target.key) is not None:
                return False
            token = secrets.token_hex(16)
            done = await self._ask(target, data, token)
            if done and self._knows_how is None:
                self._knows_how = not await self._put(target, data, token)
                if not self._knows_how:
                    log.warning(
                        "the store has no conditional writes: engines can't reserve a cache entry for each other"
                    )
            return done

    async def _ask(self, target: Target, data: bytes, token: str) -> bool:
        # It may be refused for its own sake: the answer was lost, and it was tried again (HTTP clients do that, too).
        return await self._put(target, data, token) or await self._writer_of(target) == token

    async def _put(self, target: Target, data: bytes, token: str) -> bool:
        """False: there is an object already."""

        async def call(scope: anyio.CancelScope) -> bool:
            more = {"Metadata": {TOKEN: token}, **target.extras}
            try:
                await self._calls.client.put_object(
                    Bucket=target.bucket, Key=target.key, Body=data, IfNoneMatch="*", **more
                )
            except CALL_ERRORS as error:
                if code_of(error) in REFUSED:
                    return False
                raise
            return True

        return await self._calls.perform(target.uri, "written", call, len(data))

    async def _writer_of(self, target: Target) -> str:
        """The token of the call that has created the object."""

        async def call(scope: anyio.CancelScope) -> str:
            found = await self._calls.client.head_object(Bucket=target.bucket, Key=target.key)
            return found["Metadata"].get(TOKEN, "")

        try:
            return await self._calls.perform(target.uri, "read", call)
        except BlobNotFound:
            return ""
