"""What counts against the patience with an API server: trouble of its own, without a break."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kubernetes.classify import Answer
from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.patience import GivenUp, Patience
from engine.model.errors import ErrorKind

pytestmark = pytest.mark.looptime(start=1000)

TROUBLE = [Answer(0, "ServerDisconnectedError", "gone"), Answer(500, "InternalError", "webhook"), Answer(503)]
LATER = [Answer(429, "TooManyRequests"), Answer(409, "Conflict", "on resourcequotas")]


async def give_up(patience: Patience, answer: Answer, least_seconds: float = 0.0) -> None:
    while True:
        await patience.wait(CallFailed(answer), least_seconds)


@pytest.mark.parametrize("answer", TROUBLE, ids=str)
async def test_trouble_is_given_up(answer: Answer) -> None:
    patience, began = Patience(60), anyio.current_time()
    with pytest.raises(GivenUp):
        await give_up(patience, answer)
    assert 60 <= anyio.current_time() - began <= 60 + 24


@pytest.mark.parametrize("answer", LATER, ids=str)
async def test_a_server_that_says_later_is_waited_for(answer: Answer) -> None:
    patience = Patience(1)
    for _ in range(20):
        await patience.wait(CallFailed(answer), 0.0)


async def test_an_answer_begins_it_anew() -> None:
    patience, trouble = Patience(60), CallFailed(TROUBLE[1])
    for _ in range(4):
        began = anyio.current_time()
        while anyio.current_time() - began < 50:
            await patience.wait(trouble, 0.0)
        patience.answered()


async def test_nothing_is_given_up_where_there_is_no_limit() -> None:
    patience = Patience(0)
    for _ in range(100):
        await patience.wait(CallFailed(TROUBLE[0]), 0.0)


async def test_what_is_said_then() -> None:
    patience = Patience(5)
    with pytest.raises(GivenUp) as caught:
        await give_up(patience, TROUBLE[1], 10.0)
    failure = caught.value.failure
    assert (failure.code, failure.kind, caught.value.recoverable) == ("RuntimeFailure", ErrorKind.SYSTEM, True)
    assert failure.message == (
        "its pod could not be made: the API server was in trouble for 10 s (kubernetes.trouble_seconds is 5); "
        "the last try: 500 InternalError: webhook"
    )
