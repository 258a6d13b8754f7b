"""NAME and NAME:VERSION, whole or by a unique ending; the latest version where none is named."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.model.errors import BadInput
from engine.model.ids import EntityKind
from engine.registry.entries import Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.registering import register_package
from engine.wire.registration import register
from tests import packages
from tests.packages import Entity, plan, task, workflow


@pytest.fixture
async def registry() -> Registry:
    registry = Registry(MemoryBlobs())
    wf, other = workflow("m.w", inputs={}), workflow("x.only", inputs={})
    for now, version in enumerate(["v1", "v3", "v2"]):
        await put(registry, task("m.t"), wf, plan("m.w", wf), version=version, now=float(now))
    await put(registry, other, task("x.t"), task("m.a:b"), version="v1", now=9.0)
    await put(registry, task("far.t"), version="v1", now=9.0, project="other")
    return registry


async def put(registry: Registry, *entities: Entity, version: str, now: float, project: str = "p") -> None:
    package = register(packages.files(*entities), project=project, domain="d", version=version)
    await register_package(registry, package, "package", "", now)


@pytest.mark.parametrize(
    ("text", "kind", "name", "version"),
    [
        ("m.w", EntityKind.LAUNCH_PLAN, "m.w", "v2"),
        ("w", EntityKind.LAUNCH_PLAN, "m.w", "v2"),
        ("w:v1", EntityKind.LAUNCH_PLAN, "m.w", "v1"),
        ("m.w:v3", EntityKind.LAUNCH_PLAN, "m.w", "v3"),
        ("only", EntityKind.WORKFLOW, "x.only", "v1"),
        ("m.t", EntityKind.TASK, "m.t", "v2"),
        ("m.a:b", EntityKind.TASK, "m.a:b", "v1"),
        ("m.a:b:v1", EntityKind.TASK, "m.a:b", "v1"),
        ("a:b", EntityKind.TASK, "m.a:b", "v1"),
    ],
)
async def test_what_a_name_means(registry: Registry, text: str, kind: EntityKind, name: str, version: str) -> None:
    id = (await find(registry, text, "p", "d", RUNNABLE)).id
    assert (id.kind, id.name, id.version, id.project) == (kind, name, version, "p")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t", "'t' may mean any of m.t, x.t: give the whole name"),
        ("m.w:v9", "launch plan m.w has no version 'v9'; there are: v2, v3, v1"),
        (
            "nope",
            "no launch plan, workflow or task 'nope' is registered in p:d. There are: m.a:b, m.t, m.w, x.only, x.t.",
        ),
    ],
)
async def test_what_is_not_there_is_told(registry: Registry, text: str, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        await find(registry, text, "p", "d", RUNNABLE)
    assert str(refused.value) == words


async def test_another_place_is_named(registry: Registry) -> None:
    with pytest.raises(BadInput) as refused:
        await find(registry, "m.t", "q", "d", [EntityKind.TASK])
    assert str(refused.value) == "no task 'm.t' is registered in q:d. There is something in: other:d, p:d."
