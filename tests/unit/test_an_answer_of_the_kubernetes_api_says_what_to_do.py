from __future__ import annotations

import pytest

from engine.adapters.kubernetes.classify import Answer, Do, on_create, on_delete, on_read
from engine.model.errors import ErrorKind

QUOTA = (
    'pods "x" is forbidden: exceeded quota: q, requested: cpu={asked},pods=1, used: cpu=3,pods=7, limited: cpu=4,pods=9'
)


@pytest.mark.parametrize(
    ("answer", "do"),
    [
        (Answer(0, message="connection reset"), Do.AGAIN),
        (Answer(409, "AlreadyExists"), Do.LOOK),
        (Answer(409, "Conflict", "Operation cannot be fulfilled on resourcequotas"), Do.AGAIN),
        (Answer(403, "Forbidden", QUOTA.format(asked=2)), Do.WAIT),
        (Answer(408), Do.AGAIN),
        (Answer(500), Do.AGAIN),
        (Answer(503), Do.AGAIN),
    ],
)
def test_what_may_pass(answer: Answer, do: Do) -> None:
    assert on_create(answer).do is do


@pytest.mark.parametrize(
    ("answer", "code", "kind"),
    [
        (Answer(400, "BadRequest", "m"), "BadTaskFormat", ErrorKind.USER),
        (Answer(422, "Invalid", "m"), "BadTaskFormat", ErrorKind.USER),
        (Answer(413, "RequestEntityTooLarge", "m"), "EntityTooLarge", ErrorKind.USER),
        (Answer(401, "Unauthorized", "m"), "RuntimeFailure", ErrorKind.SYSTEM),
        (Answer(403, "Forbidden", "no create"), "RuntimeFailure", ErrorKind.SYSTEM),
        (Answer(404, "NotFound", 'namespaces "x" not found'), "RuntimeFailure", ErrorKind.SYSTEM),
        (Answer(403, "Forbidden", QUOTA.format(asked="4500m")), "ResourceRequestsExceedLimits", ErrorKind.USER),
    ],
)
def test_what_ends_at_once(answer: Answer, code: str, kind: ErrorKind) -> None:
    ruling = on_create(answer)
    assert ruling.do is Do.GIVE_UP
    assert ruling.failure is not None
    assert (ruling.failure.code, ruling.failure.kind) == (code, kind)
    assert answer.message in ruling.failure.message


def test_the_server_says_how_long() -> None:
    ruling = on_create(Answer(429, "TooManyRequests", retry_after=7.0))
    assert (ruling.do, ruling.after_seconds) == (Do.AGAIN, 7.0)


@pytest.mark.parametrize(("status", "do"), [(404, Do.GONE), (409, Do.GONE), (500, Do.AGAIN), (403, Do.GIVE_UP)])
def test_deleting(status: int, do: Do) -> None:
    """409: under this name stands another pod than the one that is meant."""
    assert on_delete(Answer(status)).do is do


@pytest.mark.parametrize(("status", "do"), [(404, Do.GONE), (0, Do.AGAIN), (401, Do.GIVE_UP)])
def test_reading(status: int, do: Do) -> None:
    assert on_read(Answer(status)).do is do
