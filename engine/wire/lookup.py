"""Finds what a person asked for in a compiled package, and tells whether it can be run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from engine.model.errors import BadInput, BadPackage
from engine.model.graph import NodeKind, Program, TaskSpec, every_node
from engine.model.ids import EntityId, EntityKind
from engine.wire.compile import Compiled
from engine.wire.problems import Problem, Severity

_SHOWN = 20
"""Names that a message lists."""


def find_entity(program: Program, name: str, module: str = "") -> EntityId:
    """A launch plan or workflow by its full name, or by a unique ending of it: `my_wf` for `mod.my_wf`.

    A workflow and its default launch plan share a name: the launch plan is meant, which knows the defaults. `module`
    (of the file that was packaged) decides between several endings. Raises BadInput that says which names there are.
    """
    names = _runnable(program)
    for candidate in (name, f"{module}.{name}"):
        if candidate in names:
            return names[candidate]
    endings = sorted(full for full in names if full.endswith(f".{name}"))
    if len(endings) == 1:
        return names[endings[0]]
    if endings:
        raise BadInput(f"{name!r} may mean any of {', '.join(endings)}: give the whole name")
    if any(task.name == name or task.name.endswith(f".{name}") for task in program.tasks):
        raise BadInput(f"{name!r} is a task; only workflows and launch plans can be run. {_known(names, name)}")
    raise BadInput(f"there is no workflow or launch plan {name!r}. {_known(names, name)}")


def _runnable(program: Program) -> dict[str, EntityId]:
    """Launch plans and workflows by name; where both have it, the launch plan if it is of that workflow."""
    names = {id.name: id for id in program.launch_plans}
    for id in program.workflows:
        plan = program.launch_plans.get(names[id.name]) if id.name in names else None
        if plan is None or plan.workflow != id:
            names[id.name] = id
    return names


def _known(names: Collection[str], wanted: str) -> str:
    """The names there are; of many, those most like the wanted one."""
    if not names:
        return "It holds none."
    shown = sorted(names)
    if len(shown) > _SHOWN:
        shown = difflib.get_close_matches(wanted, shown, _SHOWN, cutoff=0.0)
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"There are: {', '.join(shown)}{more}."


def reachable_problems(compiled: Compiled, entity: EntityId, kinds: Collection[NodeKind]) -> tuple[Problem, ...]:
    """Every structural problem of the package, and what the engine lacks for whatever running `entity` reaches.

    `kinds` are the node kinds that there is a handler for.
    """
    reached = set(_reach(compiled.program, entity))
    found = [
        problem for problem in compiled.problems if problem.severity is Severity.STRUCTURAL or problem.entity in reached
    ]
    for id in sorted(reached):
        found += _unhandled(compiled.program, id, kinds)
    return tuple(found)


def reached_tasks(program: Program, entity: EntityId) -> list[TaskSpec]:
    """The tasks that running `entity` may run."""
    return [program.tasks[id] for id in _reach(program, entity) if id in program.tasks]


def ensure_runnable(compiled: Compiled, entity: EntityId, kinds: Collection[NodeKind], where: str) -> None:
    """Raises BadPackage with all `reachable_problems`, if there are any; `where` names the package."""
    problems = reachable_problems(compiled, entity, kinds)
    if problems:
        raise BadPackage(where, [str(problem) for problem in problems])


def _reach(program: Program, entity: EntityId) -> Iterator[EntityId]:
    """The entity and everything that it runs, each once."""
    waiting, seen = [entity], {entity}
    while waiting:
        id = waiting.pop()
        yield id
        fresh = set(_runs(program, id)) - seen
        seen |= fresh
        waiting += fresh


def _runs(program: Program, id: EntityId) -> Iterator[EntityId]:
    if id.kind is EntityKind.LAUNCH_PLAN and id in program.launch_plans:
        yield program.launch_plans[id].workflow
    elif id.kind is EntityKind.WORKFLOW and id in program.workflows:
        yield from (node.target for node in every_node(program.workflows[id]) if node.target is not None)


def _unhandled(program: Program, id: EntityId, kinds: Collection[NodeKind]) -> Iterator[Problem]:
    graph = program.workflows.get(id)
    for node in every_node(graph) if graph else ():
        if node.kind not in kinds:
            what = f"{node.detail}: " if node.detail else ""
            yield Problem(id, f"{what}nodes of kind {node.kind.value!r} can't be run", node.id, Severity.CAPABILITY)
