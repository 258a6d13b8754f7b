"""What the requests and submissions of one batch name is read side by side: the slowest counts, and not the sum."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies
from engine.loop.atonce import AT_ONCE, all_of
from engine.model.errors import StoreFailed
from engine.model.events import ExecutionSubmitted
from engine.model.graph import Program
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.wire.registration import register
from tests import packages
from tests.dataplane import serialized
from tests.flow.asking import echo, named, publish, request
from tests.flow.engines import World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]
VERSIONS = 8


class Slow(World):
    """No package is there before so many are asked for at the same time."""

    all_asked: anyio.Event
    needed, asked_for = VERSIONS, 0

    async def _load(self, digest: str) -> Program:
        self.asked_for += 1
        if self.asked_for == self.needed:
            self.all_asked.set()
        await self.all_asked.wait()
        return await super()._load(digest)


async def registered() -> tuple[Slow, list[str]]:
    """A world with versions of `echo`, and the digests of their packages."""
    world = Slow.of(register(packages.files(*echo()), project="p", domain="d", version="v0"))
    assert isinstance(world, Slow)
    world.all_asked = anyio.Event()
    registry, digests = Registry(world.blobs), []
    for number in range(VERSIONS):
        package = register(packages.files(*echo()), project="p", domain="d", version=f"v{number}x")
        await register_package(registry, package, "package", "", float(number))
        digests.append(package.digest)
    return world, digests


async def test_the_versions_that_requests_name() -> None:
    world, _ = await registered()
    for number in range(2 * VERSIONS):
        publish(world, request(called=f"e{number}", entity=f"m.w:v{number % VERSIONS}x"))
    async with world.engine() as engine:
        ended = [await engine.wait(named(f"e{number}")) for number in range(2 * VERSIONS)]
    assert [record.phase.value for record in ended] == ["SUCCEEDED"] * 2 * VERSIONS
    assert [record.entity.version for record in ended] == [f"v{number % VERSIONS}x" for number in range(2 * VERSIONS)]
    assert world.asked_for == VERSIONS


class Counting(MemoryBlobs):
    """How many objects with inputs of requests were read at the same time at most."""

    reading = most = 0

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        if not uri.endswith("/given"):
            return await super().get(uri, start, end)
        self.reading += 1
        self.most = max(self.most, self.reading)
        await anyio.sleep(1)
        self.reading -= 1
        return await super().get(uri, start, end)


async def test_few_inputs_at_once_whatever_versions_they_are_for() -> None:
    world, _ = await registered()
    blobs = Counting()
    blobs.objects.update(world.blobs.objects)
    world.blobs = blobs
    world.runner = NoopRunner(copies(blobs))
    uris = [blobs.uri(f"asked/{number}/given") for number in range(5 * VERSIONS)]
    for number, uri in enumerate(uris):
        blobs.objects[uri] = serialized(n=number)
        version = f"m.w:v{number % VERSIONS}x"
        publish(world, {**request(called=f"e{number}", entity=version, inputs_uri=uri), "inputs": {}})
    async with world.engine() as engine:
        ended = [await engine.wait(named(f"e{number}")) for number in range(5 * VERSIONS)]
    assert [record.phase.value for record in ended] == ["SUCCEEDED"] * 5 * VERSIONS
    assert blobs.most == AT_ONCE


async def test_the_packages_of_submissions() -> None:
    world, digests = await registered()
    events = []
    for number, digest in enumerate(digests):
        entity = packages.workflow_id("m.w")
        events.append(ExecutionSubmitted(named(f"e{number}"), entity, digest, run="r"))
    await world.log.append(events, durable=True)
    async with world.engine():
        await world.all_asked.wait()
    assert world.asked_for == VERSIONS


async def test_no_more_than_a_few_at_once() -> None:
    working = most = done = 0

    async def work() -> None:
        nonlocal working, most, done
        working += 1
        most = max(most, working)
        await anyio.sleep(1)
        working -= 1
        done += 1

    await all_of([])
    await all_of([work] * 100)
    assert (most, done) == (AT_ONCE, 100)


async def test_the_first_failure_comes_as_it_is_and_ends_the_others() -> None:
    ended = []

    async def fails() -> None:
        await anyio.sleep(1)
        raise StoreFailed("gone")

    async def goes_on() -> None:
        try:
            await anyio.sleep(3600)
        finally:
            ended.append(True)

    with pytest.raises(StoreFailed, match="gone"):
        await all_of([goes_on, fails, goes_on])
    assert ended == [True, True]
