from __future__ import annotations

import asyncio
import time

import pytest

from engine.adapters.memory.clock import START, LoopClock
from engine.adapters.systemclock import SystemClock
from engine.ports.clock import Clock


@pytest.mark.looptime
async def test_an_hour_of_loop_time_is_an_hour_of_the_clock() -> None:
    clock: Clock = LoopClock()
    assert clock.now() == START
    await asyncio.sleep(3600)
    assert clock.now() == START + 3600


async def test_the_system_clock_is_the_time_of_day() -> None:
    clock: Clock = SystemClock()
    before = time.time()
    assert before <= clock.now() <= time.time()
