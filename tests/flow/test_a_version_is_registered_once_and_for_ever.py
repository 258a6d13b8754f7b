"""Registration: the same content again changes nothing, other content is refused with what differs."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec

from engine.adapters.memory.blobs import MemoryBlobs
from engine.model import layout
from engine.model.errors import BadInput, BadPackage
from engine.model.ids import EntityKind
from engine.registry.entries import Registry
from engine.registry.registering import Registered, register_package
from engine.wire.compile import compile_package
from engine.wire.package import unpack
from tests import packages
from tests.literal_types import FLOAT, INT
from tests.packages import Entity, given, node, output, plan, plan_id, task, task_id, workflow, workflow_id

COMMAND = '["pyflyte-execute", "--inputs", "{{.input}}"]'


def shop() -> list[Entity]:
    wf = workflow("m.w", node("n0", {"a": given("n")}), gives={"o0": (INT, output("n0"))})
    return [task("m.t"), wf, plan("m.w", wf)]


async def registered(
    registry: Registry, *entities: Entity, version: str = "v1", code: str = "", now: float = 1.0
) -> Registered:
    return await register_package(registry, packages.registered(*entities, version=version), "package", code, now)


@pytest.fixture
def registry() -> Registry:
    return Registry(MemoryBlobs())


async def test_every_entity_has_an_entry_and_its_package(registry: Registry) -> None:
    done = await registered(registry, *shop())
    ids = (plan_id("m.w"), task_id("m.t"), workflow_id("m.w"))
    assert (sorted(done.fresh), done.known) == (sorted(ids), ())
    for id, entry in (await registry.find(ids)).items():
        assert (entry.id, entry.registered_at) == (id, 1.0)
        assert unpack(await registry.blobs.get(registry.blobs.uri(layout.package(entry.package))), "") == done.package
    assert done.program.digest == done.package.digest


async def test_the_same_again_changes_nothing(registry: Registry) -> None:
    await registered(registry, *shop())
    before = dict(registry.blobs.objects)  # type: ignore[attr-defined]
    done = await registered(registry, *shop(), now=2.0)
    assert (done.fresh, len(done.known)) == ((), 3)
    assert registry.blobs.objects == before  # type: ignore[attr-defined]


async def test_more_entities_of_a_version_are_added(registry: Registry) -> None:
    await registered(registry, *shop())
    done = await registered(registry, task("m.t"), task("m.other"))
    assert (done.fresh, done.known) == ((task_id("m.other"),), (task_id("m.t"),))


async def test_what_was_registered_in_part_is_completed(registry: Registry) -> None:
    """A command that was killed between two entries leaves such a registry."""
    await registered(registry, *shop())
    await registry.blobs.delete(registry.blobs.uri(layout.registered(workflow_id("m.w"))))
    done = await registered(registry, *shop())
    assert (done.fresh, len(done.known)) == ((), 3)
    assert len(await registry.find([workflow_id("m.w"), task_id("m.t"), plan_id("m.w")])) == 3


async def test_versions_are_listed_latest_first(registry: Registry) -> None:
    for now, version in enumerate(["v2", "v10", "a"]):
        await registered(registry, *shop(), version=version, now=float(now))
    found = await registry.versions(EntityKind.TASK, "p", "d", "m.t")
    assert [entry.id.version for entry in found] == ["a", "v10", "v2"]
    assert {entry.id.name for entry in await registry.every(EntityKind.WORKFLOW)} == {"m.w"}


def with_image(entity: TaskSpec) -> None:
    entity.template.container.image = "img:2"


def with_command(entity: TaskSpec) -> None:
    entity.template.container.args.append("--fast")


def with_environment(entity: TaskSpec) -> None:
    entity.template.container.env.add(key="A", value="1")


def with_interface(entity: TaskSpec) -> None:
    entity.template.interface.inputs.variables["b"].type.CopyFrom(INT)
    entity.template.interface.outputs.variables["o0"].type.CopyFrom(FLOAT)


def with_policies(entity: TaskSpec) -> None:
    entity.template.metadata.retries.retries = 3
    entity.template.metadata.discoverable = True
    entity.template.metadata.metadata.labels["a"] = "b"


def with_architecture(entity: TaskSpec) -> None:
    entity.template.container.architecture = 2  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_image, "image: none -> img:2"),
        (with_command, f'command: {COMMAND} -> {COMMAND[:-1]}, "--fast"]'),
        (with_environment, "environment"),
        (with_interface, "interface: input 'b' is new; interface: output 'o0' int -> float"),
        (with_policies, "caching; retries; labels and annotations"),
        (with_architecture, "architecture: UNKNOWN -> ARM64"),
    ],
)
async def test_a_changed_task_is_refused_with_its_parts(
    registry: Registry, change: Callable[[TaskSpec], None], words: str
) -> None:
    await registered(registry, *shop())
    other = task("m.t")
    change(other)
    with pytest.raises(BadInput) as refused:
        await registered(registry, other, task("m.more"))
    assert str(refused.value).splitlines() == [
        "package can't be registered: version v1 of p:d is registered with other content; choose another version. "
        "Nothing was registered:",
        f"  - changed: task m.t: {words}",
        "  - new: task m.more",
        "  - gone: launch plan m.w",
        "  - gone: workflow m.w",
    ]
    assert await registry.find([task_id("m.more")]) == {}


async def test_a_changed_graph_names_its_nodes(registry: Registry) -> None:
    await registered(registry, *shop())
    more = node("n1", {"a": given("n")})
    other = workflow("m.w", node("n0", {"a": packages.constant(3)}), more, gives={"o0": (INT, output("n1"))})
    with pytest.raises(BadInput, match=r"changed: workflow m\.w: graph: new n1, changed n0; graph: what its outputs"):
        await registered(registry, task("m.t"), other, plan("m.w", other))


async def test_a_changed_launch_plan_names_its_parts(registry: Registry) -> None:
    entities = shop()
    await registered(registry, *entities)
    wf = entities[1]
    assert isinstance(wf, WorkflowSpec)
    other = plan("m.w", wf, fixed={"n": 3})
    other.spec.labels.values["a"] = "b"
    with pytest.raises(BadInput, match=r"changed: launch plan m\.w: default inputs; fixed inputs; labels\Z"):
        await registered(registry, task("m.t"), wf, other)


async def test_other_code_of_the_same_task_is_other_content(registry: Registry) -> None:
    await registered(registry, *shop(), code="fast1")
    assert (await registered(registry, *shop(), code="fast1")).fresh == ()
    with pytest.raises(BadInput, match=r"changed: task m\.t: code: fast1 -> fast2"):
        await registered(registry, *shop(), code="fast2")


@pytest.mark.parametrize("differ", ["the first", "the last", "the code"])
async def test_of_many_registrations_at_once_one_wins_as_a_whole(registry: Registry, differ: str) -> None:
    outcomes: dict[int, Registered | BadInput] = {}

    async def one(number: int) -> None:
        entities = [*shop(), *(task(f"m.t{k}") for k in range(9))]
        changed = entities[0 if differ == "the first" else -1]
        assert isinstance(changed, TaskSpec)
        if differ != "the code":
            changed.template.container.image = f"img:{number}"
        try:
            outcomes[number] = await registered(registry, *entities, code=f"c{number}" if differ == "the code" else "")
        except BadInput as refused:
            outcomes[number] = refused

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(one, number)
    (winner,) = [outcome for outcome in outcomes.values() if isinstance(outcome, Registered)]
    for outcome in outcomes.values():
        assert outcome is winner or "is registered with other content" in str(outcome)
    entries = await registry.find(winner.fresh)
    assert (len(entries), len(winner.fresh)) == (12, 12)
    assert {entry.package for entry in entries.values()} == {winner.program.digest}


async def test_registrations_at_once_that_do_not_contradict_each_other_are_all_kept(registry: Registry) -> None:
    async with anyio.create_task_group() as group:
        for number in range(9):
            group.start_soon(registered, registry, task("m.t"), task(f"m.t{number}"))
    names = sorted(entry.id.name for entry in await registry.every(EntityKind.TASK))
    assert names == sorted(["m.t", *(f"m.t{number}" for number in range(9))])
    done = await registered(registry, task("m.t"), *(task(f"m.t{number}") for number in range(9)))
    assert (done.fresh, len(done.known)) == ((), 10)


async def test_a_package_that_contradicts_itself_is_not_registered(registry: Registry) -> None:
    with pytest.raises(BadPackage, match="n7"):
        await registered(registry, task("m.t"), workflow("m.w", node("n0", {"a": output("n7")})))
    assert registry.blobs.objects == {}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["a/b", "ünï", "x" * 300, "..", "A b", ""])
async def test_names_and_versions_may_hold_anything(registry: Registry, name: str) -> None:
    version = name or "v"
    done = await registered(registry, task(f"m.{name}"), version=version)
    (id,) = done.fresh
    assert (id.name, id.version) == (f"m.{name}", version)
    assert list(await registry.find([id])) == [id]
    assert [entry.id for entry in await registry.versions(EntityKind.TASK, "p", "d", f"m.{name}")] == [id]


def test_a_stored_package_of_links_is_compiled_with_their_folders() -> None:
    package = packages.registered(*shop())
    assert compile_package(package).program.code_roots == {}
