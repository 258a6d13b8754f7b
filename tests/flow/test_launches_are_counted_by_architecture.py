"""The metric `propwash_launches_total`, and what is asked before a launch."""

from __future__ import annotations

import pytest

from engine.adapters.processes.machine import ThisMachine
from engine.gateway.metrics import Metrics
from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind
from engine.model.placement import NodePool, PlacementRules
from engine.model.state import Execution
from tests.flow.engines import World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

ARM64 = PlacementRules({Architecture.ARM64: NodePool()}, default=Architecture.ARM64)


async def run(world: World, metrics: Metrics) -> Execution:
    world.meter = metrics
    return await world.run()


def launches(metrics: Metrics, architecture: str) -> float | None:
    return metrics.registry.get_sample_value("propwash_launches_total", {"architecture": architecture})


async def test_each_attempt_counts_for_its_architecture() -> None:
    metrics, world = Metrics(), World(chain(3))
    world.placement = ARM64
    await run(world, metrics)
    await run(World(chain(2)), metrics)
    assert (launches(metrics, "arm64"), launches(metrics, "any"), launches(metrics, "amd64")) == (3, 2, None)


async def test_a_machine_of_another_architecture_launches_nothing() -> None:
    metrics, world = Metrics(), World(chain(1))
    world.placement, world.vetting = ARM64, [ThisMachine(Architecture.AMD64)]
    ended = await run(world, metrics)
    assert ended.error is not None
    assert (ended.error.code, ended.error.kind) == ("ArchitectureUnavailable", ErrorKind.USER)
    assert "is for arm64, and tasks run here as processes of a machine that is amd64" in ended.error.message
    assert world.runner.launches == {}
    assert launches(metrics, "arm64") is None
    assert metrics.registry.get_sample_value("propwash_architecture_refusals_total") == 1


@pytest.mark.parametrize("own", [Architecture.ARM64, None])
async def test_a_machine_runs_what_is_for_it_and_what_is_for_any(own: Architecture | None) -> None:
    world = World(chain(1))
    world.placement = ARM64 if own else PlacementRules()
    world.vetting = [ThisMachine(own)]
    assert (await world.run()).phase.value == "SUCCEEDED"
