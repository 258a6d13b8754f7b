"""From settings to the parts of an engine on a home."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from config.load import load
from engine.homes import open_parts, read_home
from engine.loop.backoff import Backoff
from engine.model.errors import BadInput, HomeInUse
from engine.model.limits import ArrayLimits, ExecutionLimits, IncompatibleRuntime, RetryLimits

SETS = [
    "offloading.min_size=1MiB",
    "offloading.incompatible_runtime=fail",
    "retries.max_system_failures=1",
    "array.max_in_flight=7",
    "execution.max_parallelism=3",
    "execution.max_nesting=9",
    "effects.first_seconds=0.5",
]
DEFAULTS, CHANGED = load(None, [], {}), load(None, SETS, {})


async def test_every_limit_comes_from_the_settings(tmp_path: Path) -> None:
    async with open_parts(tmp_path / "home", CHANGED) as parts:
        assert parts.offload.min_size == 1024 * 1024
        assert parts.offload.incompatible_runtime is IncompatibleRuntime.FAIL
        assert parts.offload.supported_runtimes == {"FLYTE_SDK": "1.13.14"}
        assert parts.retries == RetryLimits(max_system_failures=1)
        assert parts.arrays == ArrayLimits(max_in_flight=7)
        assert parts.executions == ExecutionLimits(max_parallelism=3, max_nesting=9)
        assert parts.backoff == Backoff(0.5, 10.0, 0.2)
        assert parts.blobs.uri("a") == f"file://{tmp_path}/home/store/a"


async def test_one_home_has_one_engine_and_any_number_of_onlookers(tmp_path: Path) -> None:
    home, settings = tmp_path / "home", DEFAULTS
    async with open_parts(home, settings):
        with pytest.raises(HomeInUse):
            async with open_parts(home, settings):
                pass
        async with read_home(home) as one, read_home(home) as two:
            assert await one.log.executions() == await two.log.executions() == []


async def test_a_look_makes_no_home(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no home at"):
        async with read_home(tmp_path / "home"):
            pass
    assert not await anyio.Path(tmp_path / "home").exists()
