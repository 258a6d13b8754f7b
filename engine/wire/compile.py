"""Compiles a registered package into a `Program`, and collects everything that is wrong with it.

Every entity of the package is in the program, as far as it can be built: what may be run is for
`engine.wire.lookup.ensure_runnable` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec as TaskMessage
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.workflow_pb2 import WorkflowTemplate
from msgspec import Struct, structs

from engine.model.graph import Graph, LaunchPlanSpec, NodeKind, Program
from engine.model.ids import EntityId, EntityKind
from engine.wire.compile_graphs import compile_graph
from engine.wire.compile_nodes import Targets
from engine.wire.compile_plans import compile_plan, stated_interface
from engine.wire.compile_tasks import CompiledTask, compile_task
from engine.wire.cycles import cycles
from engine.wire.entities import templates
from engine.wire.interfaces import entity_id, interface_of
from engine.wire.package import Package
from engine.wire.problems import Problem, Report


class Compiled(Struct, frozen=True):
    program: Program
    problems: tuple[Problem, ...] = ()
    """Structural ones first, then capability ones, each in order of entity and node."""


def compile_package(package: Package) -> Compiled:
    """Never raises for what an author wrote. Linear in the size of the package."""
    report = Report()
    tasks = _tasks(package, report)
    workflows = _workflows(package, report)
    interfaces = {id: interface_of(template.interface) for id, template in workflows.items()}
    plans: dict[EntityId, LaunchPlanSpec] = {}
    home = (package.project, package.domain, package.version)
    targets = Targets(home, tasks, interfaces, plans)
    for id, plan in _plans(package, report).items():
        plans[id] = _registered_plan(plan, package) if package.root else _plan(plan, targets, report)
    graphs = {id: compile_graph(template, id, targets, report) for id, template in workflows.items()}
    _check_recursion(graphs, report)
    program = Program(
        digest=package.digest,
        tasks={id: task.spec for id, task in tasks.items()},
        workflows=graphs,
        launch_plans=plans,
        code_root=package.code_root,
        code_roots={link.id: link.code_root for link in package.links if link.id.kind is EntityKind.TASK},
        root=_root(package),
    )
    return Compiled(program, report.sorted())


def _root(package: Package) -> EntityId | None:
    if not package.root:
        return None
    return EntityId(EntityKind.WORKFLOW, package.project, package.domain, package.root, package.version)


def _tasks(package: Package, report: Report) -> dict[EntityId, CompiledTask]:
    found: dict[EntityId, CompiledTask] = {}
    for message in map(TaskMessage.FromString, package.tasks):
        task = compile_task(message.template)
        if task.spec.id in found:
            report.wrong(task.spec.id, [_TWICE])
            continue
        found[task.spec.id] = task
        if task.lacks:
            report.lacks(task.spec.id, task.lacks)
    return found


_TWICE = "the package holds two different definitions of it"


def _workflows(package: Package, report: Report) -> dict[EntityId, WorkflowTemplate]:
    """Registered workflows, and those that are only embedded in others."""
    found: dict[EntityId, WorkflowTemplate] = {}
    for template in _all_templates(package):
        id = entity_id(template.id, EntityKind.WORKFLOW)
        known = found.setdefault(id, template)
        if known is not template and known != template:
            report.wrong(id, [_TWICE])
    return found


def _all_templates(package: Package) -> Iterator[WorkflowTemplate]:
    for message in map(WorkflowSpec.FromString, package.workflows):
        yield from templates(message)


def _plans(package: Package, report: Report) -> dict[EntityId, LaunchPlan]:
    found: dict[EntityId, LaunchPlan] = {}
    for plan in map(LaunchPlan.FromString, package.launch_plans):
        id = entity_id(plan.id, EntityKind.LAUNCH_PLAN)
        if id in found:
            report.wrong(id, [_TWICE])
        found.setdefault(id, plan)
    return found


def _registered_plan(plan: LaunchPlan, package: Package) -> LaunchPlanSpec:
    """The launch plan of another package, by the interface that it carries."""
    workflow = entity_id(plan.spec.workflow_id, EntityKind.WORKFLOW)
    spec, _ = compile_plan(plan, {workflow: stated_interface(plan)})
    runs_from = {link.id: link.package for link in package.links}
    return structs.replace(spec, package=runs_from.get(spec.id, ""))


def _plan(plan: LaunchPlan, targets: Targets, report: Report) -> LaunchPlanSpec:
    spec, wrong = compile_plan(plan, targets.workflows)
    report.wrong(spec.id, wrong)
    if spec.workflow not in targets.workflows:
        absent, elsewhere = targets.absence(spec.workflow)
        report.wrong(spec.id, absent)
        for reason in elsewhere:
            report.lacks(spec.id, reason)
    return spec


def _check_recursion(graphs: Mapping[EntityId, Graph], report: Report) -> None:
    """A workflow that contains itself as a sub-workflow would never end; by way of a launch plan it may."""
    contains = {
        id: [node.target for node in graph.nodes.values() if node.kind is NodeKind.SUBWORKFLOW and node.target]
        for id, graph in graphs.items()
    }
    for cycle in cycles(contains):
        names = " -> ".join(id.name for id in [*cycle, cycle[0]])
        report.wrong(cycle[0], [f"it contains itself as a sub-workflow: {names}"])
