from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import anyio
import pytest

from engine.adapters.kubernetes.classify import Answer
from engine.adapters.kubernetes.cluster import CallFailed, Cluster
from engine.adapters.kubernetes.informer import Informer
from engine.adapters.kubernetes.status import Pod

EMPTY = b'{"metadata": {"resourceVersion": "7"}, "items": []}'


class Expiring:
    """A server whose watches are always too old."""

    def __init__(self) -> None:
        self.lists: list[float] = []

    async def get(self, path: str, params: Mapping[str, str]) -> bytes:
        self.lists.append(asyncio.get_running_loop().time())
        return EMPTY

    @asynccontextmanager
    async def chunks(
        self, path: str, params: Mapping[str, str], idle_seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        raise CallFailed(Answer(410, "Expired"))
        yield


class Quiet(Expiring):
    """A server whose watches end in order, with nothing in them."""

    @asynccontextmanager
    async def chunks(
        self, path: str, params: Mapping[str, str], idle_seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        assert float(params["timeoutSeconds"]) < idle_seconds
        await anyio.sleep(float(params["timeoutSeconds"]))
        yield _nothing()


async def _nothing() -> AsyncIterator[bytes]:
    for chunk in list[bytes]():
        yield chunk


async def watch(server: Expiring, seconds: float) -> None:
    informer = Informer(cast("Cluster", server), "/api/v1/namespaces/x/pods", Pod, "g", told=lambda pod: None)
    with anyio.move_on_after(seconds):
        await informer.run()


@pytest.mark.looptime
async def test_a_position_that_expires_again_and_again() -> None:
    server = Expiring()
    await watch(server, 60.0)
    assert len(server.lists) == 5


@pytest.mark.looptime
async def test_a_quiet_namespace_is_looked_through_whole_now_and_then() -> None:
    server = Quiet()
    await watch(server, 3600.0)
    assert len(server.lists) == 12


@pytest.mark.looptime
@pytest.mark.parametrize("answer", [b"<html>", b"", b"{}", b"[]", b'{"metadata": {}, "items": 3}', b"\xff"])
async def test_an_answer_that_is_no_list_is_asked_for_again(answer: bytes) -> None:
    class Odd(Quiet):
        async def get(self, path: str, params: Mapping[str, str]) -> bytes:
            await super().get(path, params)
            return answer if len(self.lists) < 3 else EMPTY

    server = Odd()
    await watch(server, 60.0)
    assert server.lists[1] - server.lists[0] == 2.0
    assert len(server.lists) == 3


@pytest.mark.looptime
async def test_a_line_that_is_no_event_leads_to_a_list() -> None:
    class Odd(Expiring):
        @asynccontextmanager
        async def chunks(
            self, path: str, params: Mapping[str, str], idle_seconds: float
        ) -> AsyncIterator[AsyncIterator[bytes]]:
            async def one() -> AsyncIterator[bytes]:
                yield b'{"type": "ADDED", "object": 3}\n'

            yield one()

    server = Odd()
    await watch(server, 5.0)
    assert len(server.lists) == 2
