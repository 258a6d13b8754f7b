"""What a submission and its launch plan say about an execution: who wins, who inherits, and what a task sees of it."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.adapters.memory.scripts import copies
from engine.model.architectures import Architecture
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.graph import Graph, LaunchPlanSpec, Program, TaskSpec
from engine.model.overrides import Overrides
from engine.model.placement import NodePool, PlacementRules
from engine.ports.taskrunner import Exit, TaskRequest
from tests import programs
from tests.flow.engines import EXECUTION, World

OWN = Overrides(
    envs={"A": "plan"}, labels={"team": "plan"}, max_parallelism=3, interruptible=True, raw_output_prefix="memory://raw"
)


def with_plan(overrides: Overrides, *, overwrite_cache: bool = False) -> tuple[Program, LaunchPlanSpec]:
    """outer (by its launch plan) -> inner (by its launch plan, which says `inner` for everything) -> a task."""
    work = _task()
    inner = _graph("inner", work)
    inner_plan = structs.replace(
        programs.plan("inner-plan", inner),
        overrides=Overrides(envs={"A": "inner", "B": "inner"}, annotations={"by": "inner"}),
    )
    outer = programs.graph("outer", [programs.node("n0", inner_plan.id)])
    plan = structs.replace(programs.plan("plan", outer), overrides=overrides, overwrite_cache=overwrite_cache)
    return programs.program([outer, inner], [work], [plan, inner_plan]), plan


def _task() -> TaskSpec:
    return programs.task("work", programs.interface({}, {}))


def _graph(name: str, work: TaskSpec) -> Graph:
    return programs.graph(name, [programs.node("n0", work.id)])


class Seen(World):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.requests: list[TaskRequest] = []
        play = copies(self.blobs)

        async def script(request: TaskRequest) -> Exit:
            self.requests.append(request)
            played = play(request)
            return played if isinstance(played, Exit) else await played

        self.runner.script = script


async def test_a_task_of_a_child_sees_what_its_parent_s_launch_plan_says() -> None:
    program, plan = with_plan(OWN)
    world = Seen(program)
    await world.run(plan.id)
    (request,) = world.requests
    assert request.env["A"] == "plan"
    assert "B" not in request.env, "a field wins as a whole"
    child = await world.child("n0")
    assert child.overrides == OWN


async def test_a_submission_wins_over_its_launch_plan_field_by_field() -> None:
    program, plan = with_plan(OWN)
    world = Seen(program)
    world.placement = PlacementRules({Architecture.ARM64: NodePool()})
    mine = Overrides(envs={"C": "mine"}, interruptible=False, architecture="arm64")
    async with world.engine() as engine:
        await engine.accept(ExecutionSubmitted(EXECUTION, plan.id, program.digest, overrides=mine), b"")
        await engine.wait(EXECUTION)
    (request,) = world.requests
    assert request.env["C"] == "mine"
    assert request.placement.architecture is Architecture.ARM64
    assert "A" not in request.env
    assert (await world.child("n0")).overrides == structs.replace(
        OWN, envs={"C": "mine"}, interruptible=False, architecture="arm64"
    )


async def test_a_childs_own_launch_plan_says_what_its_parent_does_not() -> None:
    program, plan = with_plan(Overrides())
    world = Seen(program)
    await world.run(plan.id)
    (request,) = world.requests
    assert (request.env["A"], request.env["B"]) == ("inner", "inner")
    assert (await world.child("n0")).overrides == Overrides()


async def test_the_engine_s_own_variables_can_t_be_overridden() -> None:
    program, plan = with_plan(Overrides(envs={"FLYTE_INTERNAL_EXECUTION_ID": "other"}))
    world = Seen(program)
    await world.run(plan.id)
    assert world.requests[0].env["FLYTE_INTERNAL_EXECUTION_ID"] == world.requests[0].key.execution.name


async def test_a_launch_plan_may_overwrite_the_cache_of_its_children_too() -> None:
    program, plan = with_plan(Overrides(), overwrite_cache=True)
    world = Seen(program)
    await world.run(plan.id)
    assert (await world.child("n0")).overwrite_cache


async def test_the_same_name_with_other_options_is_another_submission() -> None:
    program, plan = with_plan(OWN)
    world = Seen(program)
    asked = ExecutionSubmitted(EXECUTION, plan.id, program.digest)
    async with world.engine() as engine:
        await engine.accept(asked, b"")
        await engine.accept(asked, b"")
        await engine.wait(EXECUTION)
        await engine.accept(asked, b"")
        with pytest.raises(BadInput, match=r"exists already \(SUCCEEDED\)"):
            await engine.accept(structs.replace(asked, overrides=Overrides(max_parallelism=1)), b"")
    assert len(world.requests) == 1


async def test_raw_data_goes_where_the_execution_says() -> None:
    work = structs.replace(_task(), template=_printing())
    program = programs.program([_graph("wf", work)], [work])
    world = Seen(program)
    raw = Overrides(raw_output_prefix="s3://bucket/raw/")
    async with world.engine() as engine:
        await engine.accept(ExecutionSubmitted(EXECUTION, world.first, program.digest, overrides=raw), b"")
        await engine.wait(EXECUTION)
    (request,) = world.requests
    where, checkpoint = request.argv
    assert where.startswith("s3://bucket/raw/")
    assert where.split("/")[-1].startswith("p-d-e1-")
    assert checkpoint == f"{where}/_flytecheckpoints"


def _printing() -> bytes:
    from flyteidl.core.tasks_pb2 import Container, TaskTemplate

    args = ["{{.rawOutputDataPrefix}}", "{{.checkpointOutputPrefix}}"]
    return TaskTemplate(type="python-task", container=Container(image="i", args=args)).SerializeToString()
