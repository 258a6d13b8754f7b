"""Each fault of the proxy before the API server is what its name says: else a test that survives it means nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.backing.kubernetes import faulty as faults
from tests.backing.kubernetes.api import Api, ApiError, connect
from tests.backing.kubernetes.specs import Script
from tests.clusters import Space, ended, pod, space

pytestmark = pytest.mark.service("kubernetes")
PLAYED = pod("p", script=Script())


@pytest.fixture
async def at() -> AsyncIterator[Space]:
    async with space() as made:
        yield made


@pytest.fixture
async def through(at: Space) -> AsyncIterator[tuple[faults.Faulty, Api]]:
    async with faults.faulty(at.kubeconfig, at.folder) as (proxy, config), connect(config) as api:
        yield proxy, api


async def test_without_a_fault_all_goes_through(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    await api.create(f"{at.path}/pods", PLAYED)
    async for event in api.watch(f"{at.path}/pods"):
        if b'"phase":"Succeeded"' in bytes(event.object):
            break
    assert [each.creates_pod for each in proxy.seen] == [True, False]
    assert [each.watches for each in proxy.seen] == [False, True]
    assert {each.token for each in proxy.seen} == {"a-token"}


async def test_an_answer_is_not_the_servers(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    proxy.choose = lambda request: faults.Answer(403, "exceeded quota: q", "Forbidden") if request.creates_pod else None
    with pytest.raises(ApiError, match=r"403: .*exceeded quota: q"):
        await api.create(f"{at.path}/pods", PLAYED)
    assert await at.pods() == {}


async def test_a_lost_answer_is_to_what_was_done(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    proxy.choose = lambda request: faults.Lost() if request.creates_pod else None
    with pytest.raises(aiohttp.ClientError):
        await api.create(f"{at.path}/pods", PLAYED)
    assert list(await at.pods()) == ["p"]


async def test_a_reset_is_to_what_was_not_done(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    proxy.choose = lambda request: faults.Reset() if request.creates_pod else None
    with pytest.raises(aiohttp.ClientError):
        await api.create(f"{at.path}/pods", PLAYED)
    assert await at.pods() == {}


async def test_an_expired_watch_says_so_in_its_stream(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    proxy.choose = lambda request: faults.Expired() if request.watches else None
    events = [event async for event in api.watch(f"{at.path}/pods")]
    assert [event.type for event in events] == ["ERROR"]
    assert json.loads(bytes(events[0].object))["code"] == 410


async def test_a_cut_is_in_the_middle_of_a_line(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    await at.run(PLAYED)
    await at.until(ended)
    await at.run(pod("q", script=Script()))
    await at.until(lambda pods: len(pods) == 2 and ended(pods))
    proxy.choose = lambda request: faults.Cut(1) if request.watches else None
    seen: list[str] = []

    async def follow() -> None:
        async for event in api.watch(f"{at.path}/pods"):
            seen.append(event.type)

    with pytest.raises(aiohttp.ClientPayloadError):
        await follow()
    assert seen == ["ADDED"]


async def test_a_watch_can_end_in_order(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    proxy.choose = lambda request: faults.Ended(0.1) if request.watches else None
    assert [event.type async for event in api.watch(f"{at.path}/pods") if event.type != "BOOKMARK"] == []


async def test_a_server_that_is_down_comes_back_where_it_was(at: Space, through: tuple[faults.Faulty, Api]) -> None:
    proxy, api = through
    await proxy.down()
    with pytest.raises(aiohttp.ClientConnectionError):
        await api.get(f"{at.path}/pods")
    await proxy.up()
    assert (await api.get(f"{at.path}/pods"))["items"] == []
