"""An engine on the memory adapters with something registered, and strangers who publish events for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgpack
from anyio.lowlevel import checkpoint
from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.app import Engine
from engine.model.ids import ExecutionId
from engine.model.state import Fact
from engine.ports.eventlog import CONTENT_TYPE
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.wire.publicform import JSON
from engine.wire.registration import register
from tests import packages
from tests.flow.engines import World

INT = LiteralType(simple=SimpleType.INTEGER)
TEXT = LiteralType(simple=SimpleType.STRING)
PLACE = {"project": "p", "domain": "d"}


def echo() -> list[packages.Entity]:
    """Workflow `m.w` and its launch plan: it gives the number that it gets."""
    workflow = packages.workflow("m.w", inputs={"n": INT}, gives={"o0": (INT, packages.given("n"))})
    return [workflow, packages.plan("m.w", workflow)]


@asynccontextmanager
async def asked(*versions: str) -> AsyncIterator[tuple[World, Engine]]:
    """`echo` registered in these versions, the last one last."""
    world = World.of(register(packages.files(*echo()), project="p", domain="d", version="v0"))
    registry = Registry(world.blobs)
    for now, version in enumerate(versions or ("v1",)):
        package = register(packages.files(*echo()), project="p", domain="d", version=version)
        await register_package(registry, package, "package", "", float(now))
    async with world.engine() as engine:
        yield world, engine


def request(called: str = "e1", **fields: object) -> dict[str, object]:
    asked = {"v": 1, "type": "execution.requested", "execution": {**PLACE, "name": called}, "entity": "m.w:v1"}
    return {**asked, "inputs": {"n": 7}, **fields}


def publish(world: World, event: Mapping[str, object], *, as_json: bool = True) -> None:
    if as_json:
        world.log.publish(json.dumps(event).encode(), ((CONTENT_TYPE, JSON.encode()),))
    else:
        world.log.publish(msgpack.packb(event))


async def answer(world: World, number: int = 1) -> Fact:
    """The answer of this number, once it is there."""
    while len(world.log.answers) < number:
        await checkpoint()
    return world.log.answers[number - 1]


def named(name: str) -> ExecutionId:
    return ExecutionId("p", "d", name)
