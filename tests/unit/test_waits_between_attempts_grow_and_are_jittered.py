"""How long the next attempt waits: by kind of failure, how many there were, and the attempt's own key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.machine.budget import may_interrupt, wait_seconds
from engine.model.errors import ErrorKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.limits import RetryLimits

KEY = AttemptKey(ExecutionId("p", "d", "e1"), "n0")
PLAIN = RetryLimits(jitter=0.0)
SYSTEM, USER = ErrorKind.SYSTEM, ErrorKind.USER


def test_the_first_system_failure_is_followed_at_once_and_waits_double_from_the_second() -> None:
    assert [wait_seconds(SYSTEM, n, KEY, PLAIN) for n in range(1, 10)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]


def test_retries_of_the_author_are_made_at_once_unless_the_operator_says_so() -> None:
    assert [wait_seconds(USER, n, KEY, PLAIN) for n in (1, 2, 9)] == [0, 0, 0]
    slow = RetryLimits(user_wait_seconds=3.0, max_wait_seconds=10.0, jitter=0.0)
    assert [wait_seconds(USER, n, KEY, slow) for n in (1, 2, 3, 1000)] == [3, 6, 10, 10]


@given(name=st.text(min_size=1, max_size=5), failures=st.integers(2, 20))
def test_jitter_stays_within_its_share_and_is_the_same_each_time(name: str, failures: int) -> None:
    key, limits = AttemptKey(ExecutionId("p", "d", name), "n0"), RetryLimits(jitter=0.25)
    plain, wait = wait_seconds(SYSTEM, failures, key, PLAIN), wait_seconds(SYSTEM, failures, key, limits)
    assert 0.75 * plain <= wait <= 1.25 * plain
    assert wait == wait_seconds(SYSTEM, failures, key, limits)


def test_jitter_differs_from_attempt_to_attempt() -> None:
    waits = {wait_seconds(SYSTEM, 2, AttemptKey(KEY.execution, f"n{k}"), RetryLimits()) for k in range(20)}
    assert len(waits) == 20


@pytest.mark.parametrize(
    ("threshold", "interruptible"),
    [
        (-1, [True, True, True, False, False]),
        (-2, [True, True, False, False, False]),
        (1, [True, False, False, False, False]),
        (2, [True, True, False, False, False]),
        (0, [True, True, True, True, True]),
        (-9, [False, False, False, False, False]),
    ],
)
def test_after_how_many_system_failures_capacity_must_be_regular(threshold: int, interruptible: list[bool]) -> None:
    limits = RetryLimits(interruptible_failure_threshold=threshold)
    assert [may_interrupt(True, failures, limits) for failures in range(5)] == interruptible
    assert not any(may_interrupt(False, failures, limits) for failures in range(5))
