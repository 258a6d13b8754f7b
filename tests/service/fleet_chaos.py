"""The chaos round on Kafka: three processes, twelve partitions, and a hand that kills and stops them at random.

`python -m tests.service.fleet_chaos [SECONDS] [SEED]` is the long round.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from benchmarks.programs import collection, integer, literal_map
from engine.adapters.files.blobs import FileBlobs
from engine.cli.check import line
from engine.cli.cluster_audit import audit_cluster
from engine.machine.replay import Problem
from tests.backing.session import Servers
from tests.service.fleets import Fleets

MEMBERS = ("a", "b", "c")
PARTITIONS = 12
ELEMENTS = 40


@dataclass(frozen=True, slots=True)
class Round:
    executions: int
    maps: int
    seconds: float
    """How long engines are killed and stopped; what is asked is spread over this time."""


@dataclass(slots=True)
class Result:
    kills: int = 0
    pauses: int = 0
    takeovers: int = 0
    seconds: float = 0.0
    """Until the last execution had ended."""
    checks: int = 0
    """Times that everything was checked, as `propwash check` does, while it went on."""
    problems: list[str] = field(default_factory=list)


async def chaos(plan: Round, folder: Path, moments: random.Random) -> Result:
    """What is left must be as if nothing had happened; `Result.problems` says where it is not."""
    result = Result()
    async with Fleets.open(folder, partitions=PARTITIONS) as fleets, anyio.create_task_group() as tasks:
        for name in MEMBERS:
            await fleets.start(name)
        for name in MEMBERS:
            await fleets.members[name].until_it_owns(PARTITIONS // len(MEMBERS))
        began = time.monotonic()
        uri = await _inputs(folder / "store")
        tasks.start_soon(_ask, fleets, plan, uri)
        async with anyio.create_task_group() as looks:
            looks.start_soon(_check_again_and_again, fleets, folder / "store", result)
            with anyio.move_on_after(plan.seconds):
                await _disturb(fleets, moments, result)
            looks.cancel_scope.cancel()
        for name in MEMBERS:
            if name not in fleets.members:
                await fleets.start(name)
            elif fleets.members[name].paused:
                fleets.pause(name, False)
        await fleets.until_ended(plan.executions + plan.maps)
        result.seconds = time.monotonic() - began
        for name in MEMBERS:
            assert await fleets.stop(name) == 0, name
        evidence = await fleets.evidence()
        result.takeovers = evidence.takeovers
        result.problems += evidence.problems(list(fleets.ended))
        await _check(fleets, folder / "store", result)
    return result


async def _check_again_and_again(fleets: Fleets, store: Path, result: Result) -> None:
    while True:
        await _check(fleets, store, result)
        result.checks += 1
        await anyio.sleep(1)


async def _check(fleets: Fleets, store: Path, result: Result) -> None:
    """All but the programs, which these engines do not have from the store."""

    def tell(problem: Problem) -> None:
        if not problem.what.startswith("its package can't be read"):
            result.problems.append(line(problem))

    async with FileBlobs.open_readonly(store) as blobs:
        await audit_cluster(fleets.clients, blobs, tell)


async def _inputs(store: Path) -> str:
    async with FileBlobs.open(store) as blobs:
        uri = blobs.uri("inputs.pb")
        await blobs.put(uri, literal_map(xs=collection([integer(k) for k in range(ELEMENTS)])))
        return uri


async def _ask(fleets: Fleets, plan: Round, uri: str) -> None:
    """A tenth of all, ten times."""
    for part in range(10):
        await fleets.submit(range(part * plan.executions // 10, (part + 1) * plan.executions // 10))
        first = plan.executions
        await fleets.submit(range(first + part * plan.maps // 10, first + (part + 1) * plan.maps // 10), uri)
        await anyio.sleep(plan.seconds / 10)


async def _disturb(fleets: Fleets, moments: random.Random, result: Result) -> None:
    """For ever: kill one and start it again, or stop one for a while, longer than its session or not."""
    while True:
        await anyio.sleep(moments.uniform(0.3, 1.5))
        name = moments.choice(MEMBERS)
        if moments.random() < 0.5:
            await fleets.kill(name)
            result.kills += 1
            if moments.random() < 0.5:
                await anyio.sleep(moments.uniform(0, 4))
            await fleets.start(name)
        else:
            fleets.pause(name, True)
            result.pauses += 1
            await anyio.sleep(moments.uniform(0.2, 5))
            fleets.pause(name, False)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    servers = Servers()
    try:
        servers.ensure("kafka")
        with tempfile.TemporaryDirectory(prefix="propwash-chaos-") as folder:
            plan = Round(executions=2000, maps=20, seconds=seconds)
            result = anyio.run(chaos, plan, Path(folder), random.Random(seed))
    finally:
        servers.stop()
    print(
        f"seed {seed}: {result.kills} kills, {result.pauses} pauses, {result.takeovers} takeovers of {PARTITIONS} "
        f"partitions; {plan.executions} chains of 5 nodes and {plan.maps} maps of {ELEMENTS} had ended after "
        f"{result.seconds:.0f} s"
    )
    for problem in result.problems:
        print(f"  BROKEN {problem}")
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
