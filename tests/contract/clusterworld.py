"""A runner of pods on the API server that is a part of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from aiohttp import web

from engine.adapters.kubernetes.custom import Rule
from engine.adapters.kubernetes.naming import GROUP, pod_name
from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.adapters.memory.blobs import MemoryBlobs
from engine.model.errors import Permanent
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, TaskRequest
from tests.fakeapi import FakeApi, verb_of
from tests.podworld import RUNNING, Json, key, request

IDLE_SECONDS = 1.5


class World:
    """One attempt after another, and how they end."""

    def __init__(self, api: FakeApi, kubeconfig: str) -> None:
        self.api, self.kubeconfig, self.store = api, kubeconfig, MemoryBlobs()
        self.started: list[AttemptKey] = []
        self.ends: dict[AttemptKey, Exit | Permanent] = {}
        self.stored: dict[str, bytes] = {}
        self._bell = anyio.Event()
        api.kubelet = lambda pod: api.status(pod["metadata"]["name"], "Running", RUNNING)

    @asynccontextmanager
    async def runner(
        self, pods: PodOptions = PodOptions(), rules: Mapping[str, Rule] = {}, **cluster: Any
    ) -> AsyncIterator[PodRunner]:
        options = ClusterOptions(kubeconfig=self.kubeconfig, idle_seconds=IDLE_SECONDS, **cluster)
        async with PodRunner(options, pods, put=self._put, rules=rules) as runner:
            yield runner

    async def _put(self, uri: str, data: bytes) -> None:
        await self.store.put(uri, data)
        self.stored[uri] = data
        self._ring()

    async def run(self, runner: PodRunner, asked: TaskRequest) -> None:
        """To be started beside the test."""

        def begin() -> None:
            self.started.append(asked.key)
            self._ring()

        try:
            self.ends[asked.key] = await runner.run(asked, begin)
        except Permanent as problem:
            self.ends[asked.key] = problem
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = anyio.Event()

    async def until(self, holds: Callable[[], bool], seconds: float = 20.0) -> None:
        """Waits for starts and ends."""
        with anyio.fail_after(seconds):
            while not holds():
                await self._bell.wait()

    async def end(self, at: AttemptKey | None = None, seconds: float = 20.0) -> Exit:
        at = at or key()
        await self.until(lambda: at in self.ends, seconds)
        found = self.ends[at]
        assert isinstance(found, Exit), found
        return found

    async def refusal(self, at: AttemptKey | None = None) -> Permanent:
        at = at or key()
        await self.until(lambda: at in self.ends)
        found = self.ends[at]
        assert isinstance(found, Permanent), found
        return found

    async def seen(self, verb: str, times: int, seconds: float = 20.0) -> None:
        """Wait until the API has had so many calls of a kind."""
        await self.seen_of(self.api, verb, times, seconds)

    async def seen_of(self, api: FakeApi, verb: str, times: int, seconds: float = 20.0) -> None:
        with anyio.fail_after(seconds):
            while api.calls.count(verb) < times:
                await self.api.called()

    def count(self, verb: str) -> int:
        return self.api.calls.count(verb)


def ask(at: AttemptKey | None = None, **other: Any) -> TaskRequest:
    return request("run", at=at or key(), **other)


def name(at: AttemptKey | None = None) -> str:
    return pod_name(at or key())


def first(times: int, verb: str, answer: Callable[[], web.StreamResponse]) -> Callable[..., Awaitable[Any]]:
    """Trouble for the first calls of a kind."""
    left = [times]

    async def trouble(call: web.Request) -> web.StreamResponse | None:
        if verb_of(call) != verb or not left[0]:
            return None
        left[0] -= 1
        return answer()

    return trouble


def foreign(**metadata: Any) -> Json:
    """A pod under the name of the first attempt that is another's."""
    return {
        "metadata": {"name": name(), "labels": {GROUP: "other"}, "annotations": {}, **metadata},
        "status": {"phase": "Running"},
    }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with FakeApi.serving(tmp_path) as (api, kubeconfig):
        yield World(api, kubeconfig)
