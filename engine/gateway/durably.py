"""Waiting until what is asked is durable, for as long as whoever has called will wait for the answer."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio

from engine.gateway.guard import Refuse
from engine.model.ids import ExecutionId


async def durably(seconds: float, execution: ExecutionId, work: Awaitable[None]) -> None:
    """Raises Refuse where the log does not answer in time: what is on its way to it then may still arrive."""
    with anyio.move_on_after(seconds) as patience:
        await work
    if patience.cancelled_caught:
        raise Refuse(
            503,
            "LogUnavailable",
            f"execution {execution}: the log has not answered within {seconds:g} s (http.patience_seconds), and what "
            "was asked may still happen or not; asking again under the same name is harmless",
            "SYSTEM",
        )
