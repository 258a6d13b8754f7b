from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from engine.gateway.metrics import Metrics
from engine.gateway.probes import Probes

Client = TestClient[web.Request, web.Application]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def world() -> AsyncIterator[tuple[Client, Metrics, Probes, Clock]]:
    clock, app = Clock(), web.Application()
    metrics = Metrics(clock)
    probes = Probes(metrics, stalled_seconds=60.0)
    probes.add_to(app)
    async with TestClient(TestServer(app)) as client:
        yield client, metrics, probes, clock


World = tuple[Client, Metrics, Probes, Clock]


async def ask(client: Client, path: str) -> tuple[int, str]:
    async with client.get(path) as answer:
        return answer.status, await answer.text()


async def test_the_oldest_turn_decides(world: World) -> None:
    client, metrics, _, clock = world
    assert await ask(client, "/healthz") == (200, "ok\n")
    first = metrics.turning()
    clock.now += 50
    second = metrics.turning()
    clock.now += 11
    assert await ask(client, "/healthz") == (503, "a turn has not ended for 61 seconds\n")
    metrics.turned(first, (), 0, 0, 0.0)
    assert await ask(client, "/healthz") == (200, "ok\n")
    metrics.turned(second, (), 0, 0, 0.0)
    clock.now += 1000
    assert await ask(client, "/healthz") == (200, "ok\n")


async def test_it_is_ready_when_it_says_so(world: World) -> None:
    client, metrics, probes, _ = world
    assert await ask(client, "/readyz") == (503, "restoring or stopping\n")
    assert metrics.registry.get_sample_value("propwash_ready") == 0
    probes.ready(str)
    assert await ask(client, "/readyz") == (200, "ok\n")
    assert metrics.registry.get_sample_value("propwash_ready") == 1
    probes.ready(lambda: "the API server can't be used yet")
    assert await ask(client, "/readyz") == (503, "the API server can't be used yet\n")
    assert metrics.registry.get_sample_value("propwash_ready") == 0
