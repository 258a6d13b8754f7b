"""A single task as an execution: a workflow of one node around it, named as Flyte names it."""

from __future__ import annotations

from flyteidl.admin.task_pb2 import TaskSpec

from engine.model.ids import EntityId, EntityKind
from engine.wire.compile import compile_package
from engine.wire.inputs import describe_inputs
from engine.wire.lookup import ensure_runnable
from engine.wire.single_task import single_task_package
from handlers.registry import default_handlers
from tests import packages
from tests.literal_types import INT, STR
from tests.packages import task


def registered(entity: TaskSpec) -> TaskSpec:
    (data,) = packages.registered(entity).tasks
    return TaskSpec.FromString(data)


def test_the_package_is_whole_and_can_be_run() -> None:
    package, plan = single_task_package(registered(task("m.t", {"a": INT, "b": STR}, {"o0": INT, "o1": STR})), "/code")
    compiled = compile_package(package)
    assert compiled.problems == ()
    assert plan == EntityId(EntityKind.LAUNCH_PLAN, "p", "d", ".flytegen.m.t", "v1")
    ensure_runnable(compiled, plan, default_handlers(), "package")
    workflow = compiled.program.workflows[compiled.program.launch_plans[plan].workflow]
    node = workflow.nodes["n0"]
    assert (workflow.id.name, node.target) == (".flytegen.m.t", packages.task_id("m.t"))
    assert [binding.variable for binding in node.bindings] == ["a", "b"]
    assert list(workflow.interface.outputs) == ["o0", "o1"]
    assert compiled.program.code_root == "/code"


def test_every_input_has_to_be_given() -> None:
    package, plan = single_task_package(registered(task("m.t", {"a": INT, "b": STR})), "")
    inputs = describe_inputs(compile_package(package).program.launch_plans[plan])
    assert [(one.name, one.type, one.required) for one in inputs] == [("a", "int", True), ("b", "str", True)]


def test_the_tasks_own_policies_hold() -> None:
    entity = task("m.t", {}, {})
    entity.template.metadata.retries.retries = 2
    entity.template.metadata.timeout.seconds = 7
    package, plan = single_task_package(registered(entity), "")
    program = compile_package(package).program
    node = program.workflows[program.launch_plans[plan].workflow].nodes["n0"]
    assert (node.retries, node.timeout_seconds) == (2, 7.0)


def test_the_same_task_gives_the_same_package() -> None:
    first, second = (single_task_package(registered(task("m.t")), "/code")[0] for _ in range(2))
    assert first.digest == second.digest
