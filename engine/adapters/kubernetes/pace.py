"""How fast calls are made: so many a second, with bursts, and none while the server has asked for a rest."""

from __future__ import annotations

import asyncio

import anyio


class Pace:
    """Tokens that come back at `per_second`, at most `burst` at once. Who comes first is served first."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval, self._burst = 1 / per_second, burst
        self._full_at = 0.0
        """Loop time at which all tokens will be there, if nobody takes one."""
        self._rest_until = 0.0
        self._turn = asyncio.Lock()

    async def take(self) -> None:
        async with self._turn:
            now = asyncio.get_running_loop().time()
            start = max(self._full_at, now)
            free_at = max(start + self._interval - self._burst * self._interval, self._rest_until)
            if free_at > now:
                await anyio.sleep(free_at - now)
            self._full_at = start + self._interval

    def rest(self, seconds: float) -> None:
        """No call starts before that."""
        self._rest_until = max(self._rest_until, asyncio.get_running_loop().time() + seconds)
