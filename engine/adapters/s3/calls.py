"""Calls of the service: a bounded number at once, each bounded in time, tried again while the trouble may pass.

botocore's own retries are off: they end with the headers of a response, so a body that breaks off would not be read
again, and they give up early when many calls fail at once, which is when a store needs patience.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from engine.adapters.s3 import faults
from engine.adapters.s3.options import S3Options
from engine.model.errors import Transient

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client

FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 5.0
SLOWEST = 128 * 1024
"""Bytes a second that a body may take at the least."""

T = TypeVar("T")


class Calls:
    def __init__(self, client: S3Client, options: S3Options) -> None:
        self.client, self._options = client, options
        self._slots = anyio.CapacityLimiter(options.max_connections)
        self.tries = 0
        """Made so far, those that failed included."""

    def time_for(self, size: int) -> float:
        """Seconds that a call with a body of so many bytes may take."""
        return self._options.connect_seconds + self._options.read_seconds + size / SLOWEST

    async def perform(self, uri: str, verb: str, call: Callable[[anyio.CancelScope], Awaitable[T]], size: int = 0) -> T:
        """What `call` gives. It gets the scope of its deadline, to put it off when it learns of more to read.

        Raises BlobNotFound, StoreRefused, StoreFailed at once, and Transient when patience is at its end.
        """
        failures, started = 0, anyio.current_time()
        while True:
            try:
                return await self._try(uri, verb, call, size)
            except Transient:
                failures += 1
                wait = _wait_seconds(failures)
                if anyio.current_time() + wait > started + self._options.patience_seconds:
                    raise
                await anyio.sleep(wait)

    async def _try(self, uri: str, verb: str, call: Callable[[anyio.CancelScope], Awaitable[T]], size: int) -> T:
        # The slot comes first: waiting for a free connection must not count as the service's silence.
        async with self._slots:
            self.tries += 1
            try:
                with anyio.fail_after(self.time_for(size)) as scope:
                    return await call(scope)
            except faults.CALL_ERRORS as error:
                raise faults.explain(error, uri, verb) from error


def _wait_seconds(failures: int) -> float:
    """Longer after each failure in a row (1 = the first), by chance between a half and the whole of it."""
    longest = min(FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 30), LONGEST_WAIT_SECONDS)
    return longest * random.uniform(0.5, 1)
