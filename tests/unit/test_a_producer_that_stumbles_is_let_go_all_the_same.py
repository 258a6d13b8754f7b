"""aiokafka's sender raises KeyError where a batch that it wants to send again was failed meanwhile."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kafka.clients import STOP_SECONDS, _ended

pytestmark = pytest.mark.looptime


async def stumbles() -> None:
    raise KeyError("batch")


async def hangs() -> None:
    await anyio.sleep_forever()


async def stops() -> None:
    return None


async def test_what_stops_in_order_has_ended() -> None:
    assert await _ended(stops, 3.0)


async def test_what_raises_has_not_and_nobody_is_hurt() -> None:
    assert not await _ended(stumbles, 3.0)


async def test_what_hangs_is_left_in_bounded_time() -> None:
    begun = anyio.current_time()
    assert not await _ended(hangs, 3.0)
    assert anyio.current_time() - begun == STOP_SECONDS
