"""One workflow with ARM64, AMD64 and undeclared tasks, a map, a child launch plan and a dynamic, as it is placed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core.tasks_pb2 import Container
from flyteidl.core.types_pb2 import LiteralType

from engine.adapters.memory.scripts import by_node, copies, plans
from engine.model.architectures import Architecture, ArchitectureName
from engine.model.errors import ErrorKind, Failure
from engine.model.events import ExecutionSubmitted
from engine.model.overrides import Overrides
from engine.model.placement import NodePool, PlacementRules
from engine.model.state import Execution
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from engine.wire.registration import register
from tests.dataplane import serialized
from tests.flow.engines import EXECUTION, World
from tests.literal_types import INT
from tests.packages import (
    Entity,
    calls,
    constant,
    files,
    given,
    items,
    map_node,
    node,
    output,
    plan,
    plan_id,
    task,
    task_id,
    workflow,
    workflow_id,
)
from tests.plans import futures

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(60)]

LIST = LiteralType(collection_type=INT)
RULES = PlacementRules(
    {it: NodePool({"kubernetes.io/arch": it.value}) for it in (Architecture.AMD64, Architecture.ARM64)}
)


def on(name: str, architecture: int, *, mapped: bool = False, label: str = "") -> TaskSpec:
    spec = task(name, {"a": LIST}, {"o0": LIST}) if mapped else task(name)
    spec.template.container.architecture = architecture  # type: ignore[assignment]
    if label:
        spec.template.metadata.metadata.labels["kubernetes.io/arch"] = label
    return spec


ARM, AMD, ANY = on("m.arm", Container.ARM64), on("m.amd", Container.AMD64), on("m.any", Container.UNKNOWN)
MAPPED = on("m.mapped", Container.ARM64, mapped=True)
DYNAMIC = on("m.dyn", Container.AMD64)
PLANNED = [
    on("m.arm", Container.UNKNOWN),
    on("m.new", Container.UNKNOWN),
    on("m.labelled", Container.UNKNOWN, label="arm64"),
]
"""What the dynamic emits: a task that is registered as ARM64, one that is not registered, one with a label."""
ONE = constant(1)
FUTURES = futures(
    node("d0", {"a": ONE}, runs="m.arm"),
    node("d1", {"a": ONE}, runs="m.new"),
    node("d2", {"a": ONE}, runs="m.labelled"),
    gives={"o0": output("d0")},
    tasks=PLANNED,
)
CHILD = workflow("m.child", node("c0", {"a": ONE}, runs="m.any"), node("c1", {"a": ONE}, runs="m.arm"))
FLOW = workflow(
    "m.w",
    node("n0", {"a": given("n")}, runs="m.arm"),
    node("n1", {"a": given("n")}, runs="m.amd"),
    node("n2", {"a": given("n")}, runs="m.any"),
    map_node("n3", {"a": items(ONE, ONE)}, runs="m.mapped"),
    calls("n4", {"n": given("n")}, plan="m.child-plan"),
    node("n5", {"a": given("n")}, runs="m.dyn"),
)
TASKS = [ARM, AMD, ANY, MAPPED, DYNAMIC]


def labelled(made: LaunchPlan, architecture: str) -> LaunchPlan:
    if architecture:
        made.spec.labels.values["propwash.dev/architecture"] = architecture
    return made


def entities(tasks: Sequence[TaskSpec], outer: str = "", child: str = "amd64") -> list[Entity]:
    return [*tasks, CHILD, FLOW, labelled(plan("m.child-plan", CHILD), child), labelled(plan("m.plan", FLOW), outer)]


class Placed(World):
    """Remembers where every attempt was placed, by the last name of its task's path."""

    @classmethod
    def made(cls, these: Sequence[Entity], architecture: Architecture | None = None) -> Placed:
        world = cls.of(register(files(*these), project="p", domain="d", version="v1", architecture=architecture))
        assert isinstance(world, Placed)
        world.placement, world.where = RULES, {}
        play = by_node({"n5": plans(world.blobs, FUTURES)}, copies(world.blobs))

        async def script(request: TaskRequest) -> Exit:
            key = request.key
            place = key.path.split("/")[-1] + ("" if key.index is None else f"[{key.index}]")
            chosen = request.placement.architecture
            selector = {"kubernetes.io/arch": chosen.value} if chosen else {}
            assert request.placement.node_selector == selector
            world.where[place] = chosen.value if chosen else "any"
            played = play(request)
            return played if isinstance(played, Exit) else await played

        world.runner.script = script
        return world

    where: dict[str, str]

    async def submit(self, execution: ArchitectureName = "") -> Execution:
        asked = ExecutionSubmitted(
            EXECUTION, plan_id("m.plan"), self.program.digest, overrides=Overrides(architecture=execution)
        )
        async with self.engine() as engine:
            await engine.accept(asked, serialized(n=1))
            return await engine.wait(EXECUTION)


DECLARED = {
    "n0": "arm64",
    "n1": "amd64",
    "n2": "any",
    "n3[0]": "arm64",
    "n3[1]": "arm64",
    "n5": "amd64",
    "d0": "arm64",
    "d1": "amd64",
    "d2": "arm64",
}
CHILDREN = {"c0": "amd64", "c1": "amd64"}
"""The child's launch plan says amd64 for all of its tasks."""


async def test_every_task_is_placed_by_its_own_word() -> None:
    world = Placed.made(entities(TASKS))
    ended = await world.submit()
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert world.where == {**DECLARED, **CHILDREN}


async def test_the_order_of_the_tasks_means_nothing() -> None:
    for order in list(permutations(TASKS))[::17]:
        world = Placed.made(entities(order))
        await world.submit()
        assert world.where == {**DECLARED, **CHILDREN}


async def test_without_a_word_of_its_plan_a_child_is_placed_by_its_tasks() -> None:
    world = Placed.made(entities(TASKS, outer="arm64", child=""))
    await world.submit()
    assert {place: world.where[place] for place in CHILDREN} == {"c0": "any", "c1": "arm64"}
    assert {world.where[place] for place in DECLARED} == {"arm64"}


async def test_an_execution_s_word_holds_for_its_children_and_over_every_plan() -> None:
    world = Placed.made(entities(TASKS, outer="amd64"))
    await world.submit("arm64")
    assert set(world.where) == {*DECLARED, *CHILDREN}
    assert set(world.where.values()) == {"arm64"}


async def test_defaults_are_for_tasks_that_say_nothing() -> None:
    world = Placed.made(entities(TASKS, child=""))
    world.placement = PlacementRules(RULES.architectures, Architecture.AMD64, {"p:d": Architecture.ARM64})
    await world.submit()
    assert world.where == {**DECLARED, "n2": "arm64", "c0": "arm64", "c1": "arm64"}


async def test_a_package_that_was_registered_for_an_architecture_is_placed_there_whole() -> None:
    undeclared = [on(it.template.id.name, Container.UNKNOWN, mapped=it is MAPPED) for it in TASKS]
    world = Placed.made(entities(undeclared, child=""), Architecture.ARM64)
    await world.submit()
    assert set(world.where.values()) == {"arm64"}
    assert set(world.where) == {*DECLARED, *CHILDREN}


async def test_a_retry_is_placed_like_the_first_attempt() -> None:
    world = Placed.made(entities(TASKS))
    once, seen = world.runner.script, []

    async def script(request: TaskRequest) -> Exit:
        if request.key.attempt == 0:
            return Exit(ExitReason.LOST)
        seen.append(request.key.attempt)
        played = once(request)
        return played if isinstance(played, Exit) else await played

    world.runner.script = script
    await world.submit()
    assert world.where == {**DECLARED, **CHILDREN}
    assert set(seen) == {1}


async def test_an_architecture_without_nodes_fails_its_node_at_once() -> None:
    world = Placed.made(entities(TASKS))
    world.placement = PlacementRules({Architecture.AMD64: RULES.architectures[Architecture.AMD64]})
    ended = await world.submit()
    assert ended.error is not None
    assert (ended.error.code, ended.error.kind, ended.error.node) == (
        "ArchitectureNotConfigured",
        ErrorKind.USER,
        "n0",
    )
    assert "the task asks for architecture arm64" in ended.error.message
    assert "arm64" not in world.where.values()


async def test_a_pod_that_pins_another_one_starts_nothing() -> None:
    pod = task("m.t")
    pod.template.k8s_pod.pod_spec.update(
        {"nodeSelector": {"kubernetes.io/arch": "amd64"}, "containers": [{"name": "c", "args": ["a"]}]}
    )
    flow = workflow("m.w", node("n0", {"a": given("n")}))
    world = Placed.made([pod, flow, plan("m.plan", flow)])
    ended = await world.submit("arm64")
    assert ended.error == Failure(
        "ArchitectureConflict",
        ErrorKind.USER,
        "the pod template of task m.t asks for nodes with kubernetes.io/arch=amd64, but architecture arm64 "
        "needs kubernetes.io/arch=arm64; nothing was started",
        "n0",
    )
    assert world.runner.launches == {}
    without = Placed.made([pod, flow, plan("m.plan", flow)])
    await without.submit()
    assert without.where == {"n0": "amd64"}


@pytest.mark.parametrize("default", [None, Architecture.AMD64])
async def test_a_pod_that_pins_what_nobody_has_configured_runs_as_it_says(default: Architecture | None) -> None:
    pod = task("m.t")
    container = {"name": "c", "args": ["--inputs", "{{.input}}"]}
    pod.template.k8s_pod.pod_spec.update(
        {"nodeSelector": {"kubernetes.io/arch": "arm64"}, "containers": [container]},
    )
    flow = workflow("m.w", node("n0", {"a": given("n")}))
    world = Placed.made([pod, flow, plan("m.plan", flow)])
    world.placement = PlacementRules({Architecture.AMD64: RULES.architectures[Architecture.AMD64]}, default)
    ended = await world.submit()
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert world.where == {"n0": "any"}


async def test_a_label_of_no_architecture_is_named() -> None:
    odd = on("m.t", Container.UNKNOWN, label="sparc")
    flow = workflow("m.w", node("n0", {"a": given("n")}))
    world = Placed.made([odd, flow, plan("m.plan", flow)])
    ended = await world.submit()
    assert ended.error is not None
    assert ended.error.code == "ArchitectureUnknown"
    assert ended.error.message == (
        "label kubernetes.io/arch of task m.t says architecture 'sparc'; expected one of amd64, arm64, arm-v6, arm-v7; "
        "nothing was started"
    )
    assert world.runner.launches == {}


async def test_a_crash_in_the_middle_places_nothing_elsewhere() -> None:
    world = Placed.made(entities(TASKS))
    asked = ExecutionSubmitted(EXECUTION, plan_id("m.plan"), world.program.digest)
    async with world.engine() as engine:
        await engine.accept(asked, serialized(n=1))
    world.crash()
    async with world.engine() as engine:
        await engine.wait(EXECUTION)
    assert world.where == {**DECLARED, **CHILDREN}


def test_the_package_holds_what_the_test_says() -> None:
    program = Placed.made(entities(TASKS)).program
    assert program.tasks[task_id("m.arm")].architecture == "arm64"
    assert program.tasks[task_id("m.any")].architecture == ""
    assert workflow_id("m.w") in program.workflows
