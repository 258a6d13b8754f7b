"""A name may be somebody else's: what is told of it before the answer to a request is not for whoever has asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.adapters.kafka.visitor import Visitor
from engine.client.connecting import connect
from engine.client.following import Ended, Rejected, Submitted
from engine.client.submitter import Client
from engine.model.errors import BadInput, ErrorKind, Failure
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Fact
from engine.wire.codec import pack_fact

EXECUTION = ExecutionId("p", "d", "e1")
MINE = Submitted(EXECUTION, "mine", 0)


def fact(sequence: int, phase: str, request: str = "", path: str = "", outputs_uri: str = "") -> Fact:
    error = Failure("BadInput", ErrorKind.USER, "taken") if phase == "REJECTED" else None
    return Fact(EXECUTION, sequence, 1.0, phase, path, error=error, outputs_uri=outputs_uri, request=request)


def client(*facts: Fact) -> Client:
    class Told:
        async def follow(self, *_: object) -> AsyncGenerator[Sequence[Any], None]:
            yield []
            for one in facts:
                yield [SimpleNamespace(value=pack_fact(one))]
            raise AssertionError("read on")

    return Client(cast("Visitor", Told()), None, ("p", "d"))


THEIRS = (fact(8, "RUNNING", path="n3"), fact(9, "SUCCEEDED", outputs_uri="theirs"))


async def test_the_end_of_another_execution_of_the_name_is_not_mine() -> None:
    told = (*THEIRS, fact(0, "REJECTED", "others"), fact(0, "REJECTED", "mine"))
    with pytest.raises(Rejected, match="taken"):
        await client(*told).wait(MINE)


async def test_an_execution_is_followed_from_its_answer_to_its_end() -> None:
    own = (fact(1, "RUNNING"), fact(2, "SUCCEEDED", path="n0"), fact(3, "SUCCEEDED", outputs_uri="mine"))
    told = (*THEIRS, fact(0, "READY", "others"), fact(0, "READY", "mine"), *own)
    assert [one async for one in client(*told).follow(MINE)] == list(own)
    assert await client(*told).wait(MINE) == Ended(EXECUTION, ExecutionPhase.SUCCEEDED, None, "mine")
    assert (await client(*told).accepted(MINE)).phase == "READY"


async def test_one_that_had_ended_before_is_told_by_the_answer() -> None:
    answer = fact(0, "SUCCEEDED", "mine", outputs_uri="before")
    assert await client(answer).wait(MINE) == Ended(EXECUTION, ExecutionPhase.SUCCEEDED, None, "before")


async def test_who_only_names_an_execution_hears_of_every_transition() -> None:
    answers = (fact(0, "REJECTED", "others"), fact(0, "READY", "others"))
    assert [one async for one in client(*answers, *THEIRS).follow(EXECUTION)] == list(THEIRS)


async def test_it_is_told_where_brokers_are_with_their_ports() -> None:
    with pytest.raises(BadInput, match=r"^'localhost': expected HOST:PORT of brokers"):
        async with connect("localhost"):
            pass
