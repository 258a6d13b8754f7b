"""Retry budgets: the author's for USER failures, the engine's own for SYSTEM ones; counted as FlytePropeller does."""

from __future__ import annotations

from msgspec import Struct, structs

from engine.model.errors import ErrorKind, Failure
from engine.model.ids import AttemptKey
from engine.model.limits import RetryLimits


class Retry(Struct, frozen=True):
    """Try again with the next attempt number."""

    system_failures: int
    failures: int
    """Failures of this kind so far, this one included."""


class GiveUp(Struct, frozen=True):
    failure: Failure
    system_failures: int


def decide(
    failure: Failure, *, recoverable: bool, attempt: int, system_failures: int, retries: int, limits: RetryLimits
) -> Retry | GiveUp:
    """Whether a failed attempt is followed by another.

    attempt counts from 0; retries is the author's number, so retries + 1 attempts may end in USER failures. System
    failures never use those up. A failure whose budget is spent keeps its kind; its code becomes
    `RetriesExhausted|<code>`.
    """
    system = failure.kind is ErrorKind.SYSTEM
    counted = system_failures + system
    if not recoverable:
        return GiveUp(failure, counted)
    if system:
        if system_failures < limits.max_system_failures:
            return Retry(counted, counted)
    elif attempt + 1 - system_failures < retries + 1:
        return Retry(counted, attempt + 1 - system_failures)
    most = retries + 1 + system_failures if not system else limits.max_system_failures + 1 + (attempt - system_failures)
    return GiveUp(_exhausted(failure, attempt, most), counted)


def decide_whole(failure: Failure, *, attempt: int, system_failures: int, retries: int) -> Retry | GiveUp:
    """The same for a node that is a graph, or an execution, of its own: tried again as a whole, if the author asked.

    What ended it had its own budgets inside, so every failure counts here, whatever its kind, and none is free.
    system_failures: of attempts that never came to their graph.
    """
    counted = attempt + 1 - system_failures
    if counted <= retries:
        return Retry(system_failures, counted)
    if not retries and failure.code != TIMEOUT:
        return GiveUp(failure, system_failures)
    return GiveUp(_exhausted(failure, attempt, retries + 1 + system_failures), system_failures)


def wait_seconds(kind: ErrorKind, failures: int, key: AttemptKey, limits: RetryLimits) -> float:
    """How long the next attempt waits after so many failures of one kind (1 = the first). `key`: of the failed one."""
    system = kind is ErrorKind.SYSTEM
    first = limits.system_wait_seconds if system else limits.user_wait_seconds
    doublings = failures - 1 - system
    if doublings < 0 or not first:
        return 0.0
    wait: float = min(first * 2.0 ** min(doublings, 30), limits.max_wait_seconds)
    chance = int(key.digest()[:8], 16) / 0xFFFFFFFF
    return wait * (1 + limits.jitter * (2 * chance - 1))


def may_interrupt(wanted: bool, system_failures: int, limits: RetryLimits) -> bool:
    """Whether an attempt may run on capacity that can be taken away: until that has happened too often."""
    threshold = limits.interruptible_failure_threshold
    if threshold < 0:
        threshold += limits.max_system_failures + 1
    elif threshold == 0:
        return wanted
    return wanted and system_failures < threshold


TIMEOUT = "TimeoutExpired"
_EXHAUSTED = "RetriesExhausted|"


def _exhausted(failure: Failure, attempt: int, most: int) -> Failure:
    """What was said of the attempts inside a node stays in the message; the code says it once."""
    return structs.replace(
        failure,
        code=f"{_EXHAUSTED}{failure.code.removeprefix(_EXHAUSTED)}",
        message=f"[{attempt + 1}/{most}] attempts done. Last error: {failure.kind.value}::{failure.message}",
    )
