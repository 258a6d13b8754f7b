"""Processes that share the work are killed, put to sleep and woken up: all executions end, each node succeeds once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.service.fleet_chaos import Round, chaos

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(240)]


async def test_every_execution_ends_right_whatever_happens_to_its_engine(tmp_path: Path) -> None:
    result = await chaos(Round(executions=600, maps=6, seconds=15), tmp_path, random.Random(1))
    assert result.problems == []
    assert result.checks >= 1, "nothing was found while it went on"
    assert result.kills >= 2
    assert result.pauses >= 2
    assert result.takeovers > 12, "partitions had more owners than at the start"
