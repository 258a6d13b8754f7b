"""A task that leaves a plan: its nodes run in a frame of their own, and the plan's outputs are the task's."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest
from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.types_pb2 import LiteralType
from flyteidl.core.workflow_pb2 import ArrayNode, Node, WorkflowNode

from engine.adapters.memory.scripts import by_attempt, by_node, copies, plans, raises
from engine.model import layout
from engine.model.graph import NodeKind
from engine.ports.taskrunner import Exit, TaskRequest
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.wire.natural import natural_map
from engine.wire.registration import register
from tests import packages
from tests.dataplane import serialized
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import until
from tests.literal_types import INT
from tests.packages import (
    bound,
    calls,
    constant,
    given,
    items,
    map_node,
    node,
    output,
    plan,
    plan_id,
    registered,
    task,
    workflow,
    workflow_id,
)
from tests.plans import futures

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

LIST = LiteralType(collection_type=INT)
DYNAMIC = task("m.dyn", {"n": INT}, {"o0": INT})
WORK = task("m.t")
MAP = task("m.map_t", {"a": LIST}, {"o0": LIST})
TOTAL = task("m.total", {"a": LIST}, {"o0": INT})
INNER = workflow("m.inner", node("i0", {"a": given("n")}), gives={"o0": (INT, output("i0"))})
FLOW = workflow(
    "m.w",
    node("n0", {"n": given("n")}, runs="m.dyn"),
    node("n1", {"a": output("n0")}),
    gives={"o0": (INT, output("n1"))},
)
PACKAGE = registered(DYNAMIC, WORK, INNER, FLOW, plan("m.plan", INNER))
CHAIN = futures(
    node("dn0", {"a": constant(5)}),
    node("dn1", {"a": output("dn0")}),
    gives={"o0": output("dn1")},
    tasks=[WORK],
)


def planning(*chain: bytes, **by_path: bytes) -> World:
    """The dynamic node n0 leaves the first plan; nodes inside by their paths, with / written as __."""
    world = World.of(PACKAGE)
    copying = copies(world.blobs)
    nodes = {path.replace("__", "/"): plans(world.blobs, data) for path, data in by_path.items()}
    attempts = by_attempt(*(plans(world.blobs, data) for data in chain), copying)
    world.runner.script = by_node({"n0": attempts, **nodes}, copying)
    return world


async def run(world: World) -> object:
    """The output of the execution, which must succeed and leave no contradiction."""
    ended = await world.run(workflow_id("m.w"), inputs=serialized(n=1))
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert await world.problems() == []
    return natural_map(await world.blobs.get(ended.outputs_uri))["o0"]


async def test_its_nodes_run_and_its_outputs_are_theirs() -> None:
    world = planning(CHAIN)
    assert await run(world) == 5
    assert await world.phases() == {
        "n0": "SUCCEEDED",
        "n0/0/dn0": "SUCCEEDED",
        "n0/0/dn1": "SUCCEEDED",
        "n1": "SUCCEEDED",
    }
    mine = [fact.phase for fact in await world.facts() if fact.path == "n0"]
    assert mine == ["QUEUED", "RUNNING", "DYNAMIC_RUNNING", "SUCCEEDED"]
    nodes = await world.nodes()
    assert nodes["n0"].outputs_uri == nodes["n0/0/end-node"].outputs_uri
    assert nodes["n0"].kind is NodeKind.TASK


async def test_without_nodes_it_is_a_task_like_others() -> None:
    world = World.of(PACKAGE)
    assert await run(world) == 1
    assert "DYNAMIC_RUNNING" not in [fact.phase for fact in await world.facts()]


async def test_plans_nest_and_recur() -> None:
    again = futures(node("dn0", {"n": constant(4)}, runs="m.dyn"), gives={"o0": output("dn0")}, tasks=[DYNAMIC])
    world = planning(again, n0__0__dn0=again, n0__0__dn0__0__dn0=CHAIN)
    assert await run(world) == 5
    assert (await world.nodes())["n0/0/dn0/0/dn0/0/dn1"].phase.name == "SUCCEEDED"


@pytest.mark.parametrize("levels", [1, 200])
async def test_recursion_may_be_deep(levels: int) -> None:
    again = futures(node("dn0", {"n": constant(4)}, runs="m.dyn"), gives={"o0": output("dn0")}, tasks=[DYNAMIC])
    world = World.of(PACKAGE)
    copying = copies(world.blobs)
    deepest = "n0" + "/0/dn0" * levels

    def script(request: TaskRequest) -> Exit | Awaitable[Exit]:
        inside = request.key.path.startswith("n0") and request.key.path != deepest
        return (plans(world.blobs, again) if inside else copying)(request)

    world.runner.script = script
    assert await run(world) == 4
    assert (await world.nodes())[deepest].phase.name == "SUCCEEDED"


async def test_sub_workflows_maps_and_launch_plans_run_inside() -> None:
    own = workflow("m.inner", node("dn0", {"a": given("n")}), gives={"o0": (INT, output("dn0"))})
    world = planning(
        futures(
            calls("dn0", {"n": constant(2)}, workflow="m.inner"),
            calls("dn1", {"n": constant(3)}, plan="m.plan"),
            map_node("dn2", {"a": items(output("dn0"), output("dn1"), constant(7))}, runs="m.map_t"),
            node("dn3", {"a": output("dn2", "o0", 2)}),
            gives={"o0": output("dn3")},
            tasks=[WORK, MAP],
            workflows=[own],
        )
    )
    assert await run(world) == 7
    child = await world.child("n0/0/dn1")
    assert (child.entity, child.workflow, child.package) == (plan_id("m.plan"), workflow_id("m.inner"), PACKAGE.digest)
    assert (await world.nodes(child.id))["i0"].phase.name == "SUCCEEDED"
    phases = await world.phases()
    assert phases["n0/0/dn0/0/dn0"] == "SUCCEEDED"
    assert await world.element_phases("n0/0/dn2") == ["SUCCEEDED"] * 3


async def test_its_own_inputs_may_be_promised() -> None:
    world = planning(futures(node("dn0", {"a": given("n")}), gives={"o0": output("dn0")}, tasks=[WORK]))
    assert await run(world) == 1


async def test_a_plan_that_can_not_be_run_is_its_authors_error_and_nothing_of_it_starts() -> None:
    bad = futures(node("dn0", {"a": constant("text")}), gives={"o0": output("dn9")}, tasks=[WORK])
    world = planning(bad)
    ended = await world.run(workflow_id("m.w"), inputs=serialized(n=1))
    assert ended.error is not None
    assert (ended.error.code, ended.error.kind.value, ended.error.node) == ("DynamicWorkflowBuildFailed", "USER", "n0")
    assert "node dn0: input 'a' is given str, but expects int" in ended.error.message
    assert "output 'o0' takes 'o0' from node dn9, which does not exist" in ended.error.message
    assert await world.phases() == {"n0": "FAILED"}


async def test_a_node_of_the_plan_that_fails_is_the_tasks_failure_and_the_others_are_stopped() -> None:
    data = futures(
        node("dn0", {"a": constant(1)}),
        node("dn1", {"a": constant(2)}),
        node("dn2", {"a": output("dn1")}),
        gives={"o0": output("dn2")},
        tasks=[WORK],
    )
    world = planning(data)
    copying = copies(world.blobs)
    world.runner.script = by_node(
        {"n0": plans(world.blobs, data), "n0/0/dn0": raises(world.blobs, "boom")},
        copying,
    )
    ended = await world.run(workflow_id("m.w"), inputs=serialized(n=1))
    assert await world.problems() == []
    assert ended.error is not None
    assert (ended.phase.value, ended.error.code, ended.error.node) == ("FAILED", "USER:RuntimeError", "n0/0/dn0")
    phases = await world.phases()
    assert (phases["n0"], phases["n0/0/dn0"]) == ("FAILED", "FAILED")
    assert "n0/0/dn2" not in phases
    mine = [fact.phase for fact in await world.facts() if fact.path == "n0"]
    assert mine == ["QUEUED", "RUNNING", "DYNAMIC_RUNNING", "FAILING", "FAILED"]


async def test_launch_plans_of_other_packages_are_found_where_they_are_registered() -> None:
    world = planning()
    theirs = workflow("lib.w", node("k0", {"a": given("n")}, runs="lib.t"), gives={"o0": (INT, output("k0"))})
    files = packages.files(task("lib.t"), theirs, plan("lib.plan", theirs))
    library = register(files, project="lib", domain="d", version="v7")
    done = await register_package(Registry(world.blobs), library, "library", "", 1.0)
    name = Identifier(project="lib", domain="d", name="lib.plan", version="v7")
    runs = WorkflowNode(launchplan_ref=name)
    direct = Node(id="dn0", inputs=bound({"n": constant(6)}), workflow_node=runs)
    several = {"n": items(output("dn0"), constant(7))}
    array = ArrayNode(node=Node(id="each", inputs=bound(several), workflow_node=runs), min_success_ratio=1.0)
    array.is_original_sub_node_interface.value = True
    mapped = Node(id="dn1", inputs=bound(several), array_node=array)
    data = futures(direct, mapped, gives={"o0": output("dn1", "o0", 1)})
    world.runner.script = by_node({"n0": plans(world.blobs, data)}, copies(world.blobs))
    assert await run(world) == 7
    children = [record for record in await world.log.executions() if record.parent is not None]
    assert len(children) == 3
    assert {record.package for record in children} == {done.program.digest}
    assert {record.entity.project for record in children} == {"lib"}


async def test_another_attempt_plans_anew_and_only_its_own_nodes_count() -> None:
    """User case S24: the first attempt plans two nodes and loses one; the second plans three."""
    dynamic = task("m.dyn", {"n": INT}, {"o0": INT})
    dynamic.template.metadata.retries.retries = 1
    flow = workflow("m.w", node("n0", {"n": given("n")}, runs="m.dyn"), gives={"o0": (INT, output("n0"))})
    world = World.of(registered(dynamic, WORK, flow))
    copying = copies(world.blobs)
    two = futures(*(node(f"dn{k}", {"a": constant(k)}) for k in range(2)), gives={"o0": output("dn0")}, tasks=[WORK])
    three = futures(*(node(f"dn{k}", {"a": constant(k)}) for k in range(3)), gives={"o0": output("dn2")}, tasks=[WORK])
    attempts = by_attempt(plans(world.blobs, two), plans(world.blobs, three))
    world.runner.script = by_node({"n0": attempts, "n0/0/dn1": raises(world.blobs, "boom")}, copying)
    assert await run(world) == 2
    phases = await world.phases()
    assert {path: phases[path] for path in phases if path.startswith("n0/1")} == {
        "n0/1/dn0": "SUCCEEDED",
        "n0/1/dn1": "SUCCEEDED",
        "n0/1/dn2": "SUCCEEDED",
    }
    mine = [(fact.attempt, fact.phase) for fact in await world.facts() if fact.path == "n0"]
    assert mine == [
        (0, "QUEUED"),
        (0, "RUNNING"),
        (0, "DYNAMIC_RUNNING"),
        (0, "RETRYABLE_FAILURE"),
        (1, "QUEUED"),
        (1, "RUNNING"),
        (1, "DYNAMIC_RUNNING"),
        (1, "SUCCEEDED"),
    ]
    assert len(world.loads) == 2


async def test_the_plan_is_stored_once_as_a_package() -> None:
    world = planning(CHAIN)
    await run(world)
    digest = (await world.nodes())["n0"].plan
    assert world.loads == [digest]
    assert world.blobs.uri(layout.package(digest)) in world.blobs.objects


async def test_a_map_over_a_dynamic_task_is_refused_with_the_way_out() -> None:
    flow = workflow(
        "m.w",
        map_node("n0", {"a": items(given("n"), constant(2))}, runs="m.map_t"),
        gives={"o0": (LIST, output("n0"))},
    )
    package = registered(MAP, WORK, flow)
    world = World.of(package)
    world.runner.script = by_node({"n0[1]": plans(world.blobs, CHAIN)}, copies(world.blobs))
    ended = await world.run(workflow_id("m.w"), inputs=serialized(n=1))
    assert ended.error is not None
    assert (ended.error.code, ended.error.kind.value) == ("BadTaskFormat", "USER")
    assert "element 1 of a map wrote a plan (futures.pb)" in ended.error.message
    assert "map over a launch plan of a workflow that runs it" in ended.error.message


async def test_an_execution_takes_up_its_plans_after_a_restart_without_asking_the_task_again() -> None:
    world = planning(CHAIN)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, workflow_id("m.w"), world.program.digest, serialized(n=1))
        await until(engine, EXECUTION, "n0", "DYNAMIC_RUNNING")
    world.crash()
    async with world.engine() as engine:
        ended = await engine.wait(EXECUTION)
    assert ended.phase.value == "SUCCEEDED"
    assert sum(count for key, count in world.runner.launches.items() if key.path == "n0") == 1
