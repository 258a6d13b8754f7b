"""Limits have defaults of their own, so that tests need no settings; they are the same numbers."""

from __future__ import annotations

import msgspec
import pytest
from pydantic import BaseModel

from config.settings import Settings
from engine.loop.backoff import Backoff
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits

SETTINGS = Settings()


@pytest.mark.parametrize(
    ("group", "limits"),
    [
        (SETTINGS.offloading, OffloadLimits()),
        (SETTINGS.retries, RetryLimits()),
        (SETTINGS.array, ArrayLimits()),
        (SETTINGS.execution, ExecutionLimits()),
        (SETTINGS.effects, Backoff()),
    ],
)
def test_a_group_of_settings_becomes_the_limits_of_the_same_numbers(group: BaseModel, limits: object) -> None:
    assert msgspec.convert(group.model_dump(), type(limits)) == limits
