"""The short round of the crash harness (`make chaos` is the long one): SIGKILL at each place, and at random moments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.crash_driver import PLACES
from tests.service.crashes import CRASHING, Driver, Harness, Workload, driver, packaged
from tests.service.workloads import at_once, mapped, nested, planned

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]
SEED = 3
MOMENTS = 6


@pytest.fixture(scope="module")
def engines() -> Iterator[Driver]:
    with driver() as one:
        yield one


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(CRASHING, tmp_path_factory.mktemp("package"))


@pytest.fixture
def harness(engines: Driver, package: Path, tmp_path: Path) -> Callable[[Workload], Harness]:
    return lambda workload: Harness(engines, package, workload, tmp_path / "run")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("workload", [mapped(50), nested(6), at_once(12)], ids=lambda workload: workload.entity)
def test_killed_at_a_place_again_and_again(
    harness: Callable[[Workload], Harness], workload: Workload, place: str
) -> None:
    run = harness(workload)
    # On one home: each engine gets a little further than the one before it.
    kills = [run.life(place=place, count=count).status for count in (1, 2, 3, 5)]
    assert kills[0] == -9
    assert run.finish().completed == len(workload.executions)


@pytest.mark.parametrize("workload", [nested(6, scripted=False), planned(2)], ids=lambda workload: workload.entity)
def test_real_tasks_killed_at_random_moments(harness: Callable[[Workload], Harness], workload: Workload) -> None:
    moments = random.Random(SEED)
    run = harness(workload)
    for _ in range(MOMENTS):
        run.life(delay=moments.uniform(0.05, 2.0))
    assert run.finish().completed == 1
