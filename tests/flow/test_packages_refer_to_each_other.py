"""References to what was registered with other packages are linked at registration, with everything they need."""

from __future__ import annotations

import pytest
from flyteidl.core.identifier_pb2 import Identifier

from engine.adapters.memory.blobs import MemoryBlobs
from engine.model.errors import BadPackage
from engine.model.ids import EntityId, EntityKind
from engine.registry.entries import Registry
from engine.registry.registering import Registered, register_package
from engine.wire.compile import compile_package
from engine.wire.lookup import ensure_runnable
from engine.wire.registration import register
from handlers.registry import default_handlers
from tests import packages
from tests.literal_types import INT
from tests.packages import Entity, calls, given, node, output, plan, task, workflow


@pytest.fixture
def registry() -> Registry:
    return Registry(MemoryBlobs())


async def put(
    registry: Registry, *entities: Entity, project: str = "p", version: str = "v1", code_root: str = "/here"
) -> Registered:
    files = packages.files(*entities, code_root=code_root)
    package = register(files, project=project, domain="d", version=version)
    return await register_package(registry, package, "package", "", 1.0)


def elsewhere(kind: EntityKind, name: str, version: str = "v7") -> EntityId:
    return EntityId(kind, "other", "d", name, version)


def reference(name: str, version: str = "v7") -> Identifier:
    return Identifier(project="other", domain="d", name=name, version=version)


def user_of_the_task() -> list[Entity]:
    wf = workflow("m.w", node("n0", {"a": given("n")}, runs=reference("lib.t")), gives={"o0": (INT, output("n0"))})
    return [wf, plan("m.w", wf)]


async def test_a_reference_task_is_found_with_its_code(registry: Registry) -> None:
    await put(registry, task("lib.t"), project="other", version="v7", code_root="/lib")
    done = await put(registry, *user_of_the_task())
    lib = elsewhere(EntityKind.TASK, "lib.t")
    assert done.program.tasks[lib].id == lib
    assert (done.program.code_root, done.program.code_roots) == ("/here", {lib: "/lib"})
    assert lib not in done.fresh
    compiled = compile_package(done.package)
    ensure_runnable(compiled, packages.plan_id("m.w"), default_handlers(), "package")


async def test_a_reference_launch_plan_brings_its_workflow_and_tasks(registry: Registry) -> None:
    inner = workflow("lib.w", node("n0", {"a": given("n")}, runs="lib.t"))
    await put(registry, task("lib.t"), inner, plan("lib.p", inner), project="other", version="v7", code_root="/lib")
    call = calls("n0", {"n": given("n")}, plan="x")
    call.workflow_node.launchplan_ref.CopyFrom(reference("lib.p"))
    done = await put(registry, workflow("m.w", call))
    assert elsewhere(EntityKind.WORKFLOW, "lib.w") in done.program.workflows
    assert done.program.code_roots == {elsewhere(EntityKind.TASK, "lib.t"): "/lib"}
    assert list(done.program.launch_plans) == [elsewhere(EntityKind.LAUNCH_PLAN, "lib.p")]


async def test_a_reference_workflow_is_found(registry: Registry) -> None:
    inner = workflow("lib.w", node("n0", {"a": given("n")}, runs="lib.t"))
    await put(registry, task("lib.t"), inner, project="other", version="v7")
    call = calls("n0", {"n": given("n")}, workflow="x")
    call.workflow_node.sub_workflow_ref.CopyFrom(reference("lib.w"))
    done = await put(registry, workflow("m.w", call))
    assert elsewhere(EntityKind.WORKFLOW, "lib.w") in done.program.workflows


async def test_references_are_followed_over_several_packages(registry: Registry) -> None:
    await put(registry, task("base.t"), project="base", version="v1", code_root="/base")
    middle = workflow(
        "lib.w",
        node("n0", {"a": given("n")}, runs=Identifier(project="base", domain="d", name="base.t", version="v1")),
    )
    await put(registry, middle, plan("lib.p", middle), project="other", version="v7", code_root="/lib")
    call = calls("n0", {"n": given("n")}, plan="x")
    call.workflow_node.launchplan_ref.CopyFrom(reference("lib.p"))
    done = await put(registry, workflow("m.w", call))
    assert done.program.code_roots == {EntityId(EntityKind.TASK, "base", "d", "base.t", "v1"): "/base"}


async def test_what_another_package_of_the_same_version_holds_is_found(registry: Registry) -> None:
    await put(registry, task("m.t"), code_root="/there")
    done = await put(registry, workflow("m.w", node("n0", {"a": given("n")})))
    assert done.program.code_roots == {packages.task_id("m.t"): "/there"}


async def test_what_is_not_registered_is_named_in_full(registry: Registry) -> None:
    await put(registry, task("lib.t"), project="other", version="v6")
    with pytest.raises(BadPackage) as refused:
        await put(registry, *user_of_the_task())
    assert refused.value.problems == ("it refers to the task other:d:lib.t, version v7, which is not registered",)
    assert await registry.find([packages.workflow_id("m.w")]) == {}


async def test_the_same_references_give_the_same_package(registry: Registry) -> None:
    await put(registry, task("lib.t"), project="other", version="v7")
    first = await put(registry, *user_of_the_task())
    again = await put(registry, *user_of_the_task())
    assert (again.program.digest, again.fresh) == (first.program.digest, ())
