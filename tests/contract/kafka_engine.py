"""An engine on one partition of the broker of this run, with `echo` registered in its store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from anyio.lowlevel import checkpoint

from engine.adapters.kafka.visitor import Visitor
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies
from engine.adapters.systemclock import SystemClock
from engine.app import Engine, Parts, load_program, running
from engine.client.connecting import Client
from engine.loop.backoff import Backoff
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.ports.blobstore import BlobStore
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.wire.registration import register
from tests import packages
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.flow.asking import echo

PROJECT, DOMAIN = "flytesnacks", "development"


@asynccontextmanager
async def engine_on(world: KafkaWorld, blobs: BlobStore, runner: NoopRunner | None = None) -> AsyncIterator[Engine]:
    parts = Parts(
        log=world.log,
        blobs=blobs,
        runner=runner or NoopRunner(copies(blobs)),
        clock=SystemClock(),
        offload=OffloadLimits(),
        retries=RetryLimits(),
        arrays=ArrayLimits(),
        executions=ExecutionLimits(),
        backoff=Backoff(),
        load=partial(load_program, blobs),
    )
    async with running(parts) as engine:
        yield engine


async def registered(blobs: BlobStore, *entities: packages.Entity, version: str = "v1") -> str:
    """The digest of a package that is registered, of `echo` if nothing is given."""
    files = packages.files(*(entities or echo()))
    package = register(files, project=PROJECT, domain=DOMAIN, version=version)
    await register_package(Registry(blobs), package, "package", "", 1.0)
    return package.digest


@asynccontextmanager
async def served(**more: object) -> AsyncIterator[tuple[KafkaWorld, MemoryBlobs, Client]]:
    """An engine with `echo`, and a client that shares its store."""
    blobs = MemoryBlobs()
    await registered(blobs)
    async with kafka_world(**more) as world, engine_on(world, blobs), Visitor.open(world.clients) as visitor:
        yield world, blobs, Client(visitor, blobs, (PROJECT, DOMAIN))


async def letters_there(world: KafkaWorld, count: int) -> None:
    """Wait until there are so many dead letters."""
    while len(await world.log.dead_letters()) < count:
        await checkpoint()
