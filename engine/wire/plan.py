"""What a @dynamic task wrote (futures.pb), as a package that is complete in itself.

Its tasks and sub-workflows are its own even where the parent's package has some of the same names, since flytekit gives
the nodes inside other ids. What it only refers to, launch plans above all, is copied from the parent's package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec as TaskMessage
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.dynamic_job_pb2 import DynamicJobSpec
from flyteidl.core.tasks_pb2 import TaskTemplate
from flyteidl.core.workflow_pb2 import WorkflowTemplate
from google.protobuf.message import DecodeError
from msgspec import structs

from engine.model.errors import ErrorKind, Failure, Permanent, shorten
from engine.model.graph import NodeKind, TaskSpec
from engine.model.ids import EntityId, EntityKind
from engine.wire.architecture import declaration, stamp
from engine.wire.compile import compile_package
from engine.wire.compile_plans import state_interface
from engine.wire.entities import Entity, templates
from engine.wire.interfaces import entity_id
from engine.wire.links import contents, defined, wanted, with_linked
from engine.wire.lookup import reachable_problems
from engine.wire.package import Package
from engine.wire.registration import fill_place, fill_version, package_of, sort_sets

CODE = "DynamicWorkflowBuildFailed"


class Plan:
    """A plan in the making: the entities that it holds, and those it refers to."""

    def __init__(self, job: DynamicJobSpec, task: TaskSpec) -> None:
        self.task = task
        self._home = (task.id.project, task.id.domain, task.id.version)
        self._successes, self._nodes = job.min_successes, len(job.nodes)
        root = WorkflowSpec(template=_root(job, task), sub_workflows=job.subworkflows)
        self._own: list[Entity] = [root, *(TaskMessage(template=template) for template in job.tasks)]
        self._linked: dict[EntityId, tuple[Entity, str]] = {}
        self._runs_from: dict[EntityId, str] = {}
        for entity in self._own:
            fill_place(entity, task.id.project, task.id.domain)
            fill_version(entity, task.id.version)
            sort_sets(entity)

    def missing(self) -> set[EntityId]:
        """What its nodes run and it does not hold. A launch plan runs elsewhere, with what it refers to."""
        entities = [*self._own, *(entity for entity, _ in self._linked.values())]
        held = {id for entity in entities for id in defined(entity)}
        return {id for entity in entities if not isinstance(entity, LaunchPlan) for id in wanted(entity)} - held

    def complete(self, package: Package, digest: str = "") -> None:
        """Copy what is missing from a package, as far as that has it. `digest`: it is not the execution's own."""
        stock = _Stock(package)
        while found := {id: taken for id in self.missing() if (taken := stock.take(id)) is not None}:
            self._linked |= found
            self._runs_from |= {id: digest for id in found if id.kind is EntityKind.LAUNCH_PLAN and digest}

    def stamp(self, registered: Mapping[EntityId, TaskSpec]) -> None:
        """Its tasks that do not say for which architecture they are get it from the registered task of the same id,
        else from the task that wrote the plan: an SDK that builds tasks can't know what registering them added."""
        own = declaration(TaskTemplate.FromString(self.task.template))
        for entity in self._own:
            if isinstance(entity, TaskMessage):
                known = registered.get(entity_id(entity.template.id, EntityKind.TASK))
                stamp(entity.template, (known and declaration(TaskTemplate.FromString(known.template))) or own)

    def package(self, code_root: str) -> Package:
        """The finished package. Raises Permanent (USER) with everything that is wrong with it."""
        package = with_linked(package_of(self._own, self._home, code_root, root=self.task.id.name), self._linked)
        links = [structs.replace(link, package=self._runs_from.get(link.id, "")) for link in package.links]
        package = structs.replace(package, links=tuple(links))
        compiled = compile_package(package)
        assert compiled.program.root is not None
        problems = [str(it) for it in reachable_problems(compiled, compiled.program.root, frozenset(NodeKind))]
        if self._successes not in (0, self._nodes):
            wanted = f"it asks for {self._successes} successes of its {self._nodes} nodes"
            problems.insert(0, f"{wanted} (min_successes); every node of a plan must succeed")
        if problems:
            raise Permanent(Failure(CODE, ErrorKind.USER, shorten(_told(self.task, problems))))
        return package


def read_plan(futures: bytes, task: TaskSpec) -> Plan:
    """The plan that a task wrote. Raises Permanent (SYSTEM, worth another attempt) for bytes that are none."""
    try:
        return Plan(DynamicJobSpec.FromString(futures), task)
    except DecodeError as problem:
        message = f"futures.pb of {task.id} can't be read: {len(futures)} bytes that are no DynamicJobSpec ({problem})"
        raise Permanent(Failure(CODE, ErrorKind.SYSTEM, message), recoverable=True) from problem


def _told(task: TaskSpec, problems: Sequence[str]) -> str:
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    listed = "".join(f"\n  - {problem}" for problem in problems)
    return f"the plan that {task.id} wrote can't be run, {count}; none of its nodes was started:{listed}"


def _root(job: DynamicJobSpec, task: TaskSpec) -> WorkflowTemplate:
    """The workflow to run: the task's own name and interface around the plan's nodes."""
    template = WorkflowTemplate(nodes=job.nodes, outputs=job.outputs)
    template.id.name = task.id.name
    template.interface.CopyFrom(TaskTemplate.FromString(task.template).interface)
    return template


class _Stock:
    """The entities of a package, to copy from."""

    def __init__(self, package: Package) -> None:
        self._entities, self._code_root = contents(package), package.code_root
        self._code_roots = {link.id: link.code_root for link in package.links}
        workflows = [entity for entity in self._entities.values() if isinstance(entity, WorkflowSpec)]
        self._templates = {
            entity_id(template.id, EntityKind.WORKFLOW): template for spec in workflows for template in templates(spec)
        }

    def take(self, id: EntityId) -> tuple[Entity, str] | None:
        """The entity, and the folder with its modules."""
        if id.kind is EntityKind.WORKFLOW:
            template = self._templates.get(id)
            return None if template is None else (WorkflowSpec(template=template), "")
        entity = self._entities.get(id)
        if isinstance(entity, LaunchPlan):
            workflow = self._templates.get(entity_id(entity.spec.workflow_id, EntityKind.WORKFLOW))
            if workflow is None:
                return None
            state_interface(entity, workflow.interface)
        return None if entity is None else (entity, self._code_roots.get(id, self._code_root))
