"""Workflows whose tasks are cached, and what their executions say about it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.adapters.memory import scripts
from engine.adapters.memory.runner import NoopRunner, Script
from engine.model.cache import CachePolicy
from engine.model.graph import ArraySpec, Interface, NodeSpec, Program, TaskSpec
from engine.model.ids import ExecutionId
from tests.dataplane import serialized
from tests.flow.engines import EXECUTION, World
from tests.programs import INT, graph, interface, list_of, mapped, node, program, promise, task

SECOND, THIRD = ExecutionId("p", "d", "e2"), ExecutionId("p", "d", "e3")
VERSION = CachePolicy("1")
ONE = interface({"a": INT}, {"o0": INT})
LIST = interface({"xs": list_of(INT)}, {"o0": list_of(INT)})


def cached_task(policy: CachePolicy | None = VERSION, spec: TaskSpec | None = None) -> Program:
    """A workflow of one task, which takes what the workflow takes and gives what it gives."""
    spec = spec or task("work")
    variables = list(spec.interface.inputs)
    n0 = node("n0", spec.id, bindings=[promise(name, "", name) for name in variables], cache=policy)
    return _workflow(n0, spec, spec.interface)


def cached_map(
    policy: CachePolicy | None = VERSION, array: ArraySpec | None = None, spec: TaskSpec | None = None
) -> Program:
    """A workflow that maps an int -> int task over the list xs."""
    many = spec or mapped(task("work"))
    n0 = node("n0", many.id, bindings=[promise("a", "", "xs")], array=array or ArraySpec(), cache=policy)
    return _workflow(n0, many, LIST)


def _workflow(n0: NodeSpec, spec: TaskSpec, face: Interface) -> Program:
    outputs = [promise(name, "n0", name) for name in face.outputs]
    return program([graph("wf", [n0], outputs=outputs, face=face)], [spec])


def with_program(world: World, changed: Program) -> None:
    """Another version of the workflow, registered over the same log and store."""
    world.program = structs.replace(changed, digest=f"{world.program.digest}'")


async def said(world: World, path: str = "n0", execution: ExecutionId = EXECUTION) -> list[tuple[str, str]]:
    """Phase and cache status of each fact of a node."""
    facts = [fact for fact in await world.facts(execution) if fact.path == path and fact.index is None]
    return [(fact.phase, fact.cache.value if fact.cache else "") for fact in facts]


async def elements_said(world: World, execution: ExecutionId = EXECUTION) -> list[str]:
    """The last cache status of each element of n0."""
    last: dict[int, str] = {}
    for fact in await world.facts(execution):
        if fact.index is not None:
            last[fact.index] = fact.cache.value if fact.cache else ""
    return [last[index] for index in sorted(last)]


def launched(runner: NoopRunner, execution: ExecutionId) -> Sequence[int | None]:
    """Element indexes (None for a task) of the attempts of an execution that were run."""
    return sorted((key.index for key in runner.launches if key.execution == execution), key=lambda it: it or 0)


def gives(world: World, value: object) -> Script:
    """Attempts that give this value as o0, whatever they are given."""
    return scripts.gives(world.blobs, serialized(o0=value))
