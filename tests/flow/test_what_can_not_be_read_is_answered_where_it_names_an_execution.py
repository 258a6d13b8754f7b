"""A misspelt key, another version, a wrong type: a dead letter, and an answer for whoever is named; so with aborts."""

from __future__ import annotations

from typing import Any

import pytest

from engine.wire.publicform import JSON
from tests.flow.asking import PLACE, answer, asked, publish, request

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    ("event", "words"),
    [
        (request(inputz={}, request="r"), "nobody reads 'inputz'"),
        ({**request(request="r"), "v": 99}, "99"),
        (request(entity=7, request="r"), "Expected `str`, got `int` - at `$.entity`"),
        ({**request(request="r"), "type": "execution.request"}, "its type is 'execution.request'"),
    ],
)
async def test_it_is_answered(event: dict[str, Any], words: str, as_json: bool) -> None:
    async with asked() as (world, _):
        publish(world, event, as_json=as_json)
        told = await answer(world)
        (letter,) = await world.log.dead_letters()
    assert (told.phase, told.sequence, told.request) == ("REJECTED", 0, "r")
    assert told.error is not None
    assert told.error.code == "Unreadable"
    assert words in told.error.message
    assert str(told.execution) == "p:d:e1"
    assert (letter.reason, letter.execution) == (told.error.message, told.execution)


@pytest.mark.parametrize(
    "event",
    [
        {"v": 1, "type": "attempt.started", "execution": {**PLACE, "name": "e1"}, "x": 1},
        request("Not A Label", inputz={}),
        {**request(), "execution": "e1"},
        {"v": 1},
    ],
)
async def test_what_names_nobody_who_waits_is_a_dead_letter_only(event: dict[str, Any]) -> None:
    async with asked() as (world, _):
        publish(world, event)
        publish(world, request("e2", request="r"))
        assert (await answer(world)).request == "r"
        (letter,) = await world.log.dead_letters()
    assert letter.execution is None
    assert dict(letter.headers).get("content-type", JSON.encode()) == JSON.encode()


async def test_an_abort_of_what_is_not_there_is_answered() -> None:
    async with asked() as (world, _):
        publish(
            world, {"v": 1, "type": "execution.abort_requested", "execution": {**PLACE, "name": "e9"}, "cause": "c"}
        )
        told = await answer(world)
        assert await world.log.dead_letters() == []
    assert (told.phase, told.sequence, str(told.execution)) == ("REJECTED", 0, "p:d:e9")
    assert told.error is not None
    assert told.error.message == "there is no execution p:d:e9; nothing was changed"
