"""What the tests of the behaviour reference's scenarios (its section 14) have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import by_node, copies
from engine.model.errors import Failure
from engine.model.graph import FailurePolicy, NodeSpec, Program
from engine.model.state import Execution, Fact
from tests.flow.engines import EXECUTION, World
from tests.programs import constant, graph, node, program, task

WORK = task("work")
Scripts = Callable[[MemoryBlobs], Mapping[str, Script]]
"""By node path; the others copy their input."""


def lone(id: str, *after: str, retries: int = 0, timeout: float | None = None) -> NodeSpec:
    """A node that needs no value of another."""
    return node(id, WORK.id, after=after, bindings=[constant("a", 1)], retries=retries, timeout=timeout)


def flow(*nodes: NodeSpec, policy: FailurePolicy = FailurePolicy.FAIL_IMMEDIATELY) -> Program:
    return program([graph("wf", nodes, policy=policy)], [WORK])


class Run:
    """One execution that has ended; the checker has found nothing wrong with what is stored."""

    def __init__(self, world: World, execution: Execution, facts: Sequence[Fact]) -> None:
        self.world, self.execution, self.facts = world, execution, facts

    @property
    def error(self) -> Failure:
        assert self.execution.error is not None
        return self.execution.error

    @property
    def launches(self) -> list[tuple[str, int]]:
        """Path and attempt of each, in their order."""
        assert set(self.world.runner.launches.values()) <= {1}
        return [(key.path, key.attempt) for key in self.world.runner.launches]

    def told(self, *paths: str) -> list[str]:
        """`path PHASE` of the facts about these nodes ("" = the execution), or about all."""
        return [f"{fact.path} {fact.phase}".strip() for fact in self.facts if not paths or fact.path in paths]

    def at(self, path: str, phase: str) -> list[int]:
        """When the node came to this phase, in whole seconds after the start."""
        start = self.execution.started_at
        return [round(fact.at - start) for fact in self.facts if (fact.path, fact.phase) == (path, phase)]


async def run(whole: Program, scripts: Scripts = lambda blobs: {}, inputs: bytes = b"") -> Run:
    world = World(whole)
    world.runner.script = by_node(scripts(world.blobs), copies(world.blobs))
    return await ended(world, await world.run(inputs=inputs))


async def ended(world: World, execution: Execution) -> Run:
    assert await world.problems() == []
    return Run(world, execution, await world.facts(EXECUTION))
