"""The long round of the crash harness: `make chaos`, or `python -m tests.chaos [SEED]`.

Each workload is killed at every place, each time on a new home that is then finished by one more engine; again and
again on one home; and at 25 random moments. Then tasks are pods (chaos_pods.py), where the API server is in trouble,
too. Then the table of small workflows of every kind, on engines of which four are killed. Prints figures, and ends with
1 where a promise was broken.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.chaos_pods import pods_broken
from tests.service.crash_driver import PLACES
from tests.service.crashes import CRASHING, ROOT, Driver, Figures, Harness, Workload, driver, packaged
from tests.service.table_kills import wrong_after
from tests.service.workloads import at_once, demo, mapped, nested, planned

MOMENTS = 25
TABLE_KILLS = 4
COUNTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 80, 120, 200, 500, 1000)
"""Which time at a place is the last; those that are never reached end the series."""


def main() -> int:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"seed {seed}", flush=True)
    broken = 0
    with tempfile.TemporaryDirectory(prefix="propwash-chaos-") as folder, driver() as engines:
        ours, big = packaged(CRASHING, Path(folder)), packaged(ROOT / "examples" / "big_map.py", Path(folder))
        for number, (package, workload) in enumerate(workloads(ours, big)):
            moments = random.Random(f"{seed} {number}")
            broken += _round(engines, package, workload, Path(folder, str(number)), moments)
        broken += pods_broken(engines, ours, Path(folder, "pods"))
        broken += _table(Path(folder, "table"), random.Random(f"{seed} table"))
    return 1 if broken else 0


def workloads(ours: Path, big: Path) -> Iterator[tuple[Path, Workload]]:
    yield ours, mapped(50)
    yield ours, nested(8)
    yield ours, at_once(500)
    yield ours, mapped(50, scripted=False)
    yield ours, nested(8, scripted=False)
    yield ours, at_once(10, scripted=False)
    yield ours, planned(3)
    yield big, demo(20)


def _round(engines: Driver, package: Path, workload: Workload, folder: Path, moments: random.Random) -> int:
    """One workload. How many promises were broken."""
    homes = (Harness(engines, package, workload, folder / str(number)) for number in itertools.count())
    kind = "scripted" if workload.scripted else "real tasks"
    calm = next(homes)
    began = time.monotonic()
    calm.finish()
    seconds = time.monotonic() - began
    print(f"\n{workload.name} ({kind}): {seconds:.1f} s when nothing is killed", flush=True)
    broken = 0
    for what, kills in (
        ("every place in turn", _places(homes, stride=1 if workload.scripted and len(workload.executions) == 1 else 4)),
        ("one home, place by place", _one_home(next(homes))),
        (f"{MOMENTS} random moments", _moments(homes, moments, seconds)),
    ):
        total, began = Figures(), time.monotonic()
        name = "the start"
        try:
            for name, harness in kills:  # noqa: B007 - the message names the last one
                total.add(harness.finish())
        except AssertionError as problem:
            broken += 1
            print(f"  BROKEN at or after {name}; the rest was left out: {problem}", flush=True)
        print(f"  {what}: {total} ({time.monotonic() - began:.0f} s)", flush=True)
    return broken


def _table(folder: Path, moments: random.Random) -> int:
    """Workflows of every kind. How many of them did not end as they should."""
    began = time.monotonic()
    problems = wrong_after(folder, TABLE_KILLS, moments)
    print(f"\nthe table of workflows, {TABLE_KILLS} kills: {len(problems)} wrong ({time.monotonic() - began:.0f} s)")
    for problem in problems:
        print(f"  BROKEN {problem}", flush=True)
    return len(problems)


Killed = Iterator[tuple[str, Harness]]


def _places(homes: Iterator[Harness], stride: int) -> Killed:
    """Each place, at the first, second ... time, until an engine gets through before it comes there so often."""
    for place in PLACES:
        for count in COUNTS[::stride]:
            harness = next(homes)
            killed = harness.life(place=place, count=count).status
            yield f"{place} {count}", harness
            if not killed:
                break


def _one_home(harness: Harness) -> Killed:
    for place, count in itertools.product(PLACES, (1, 2, 3)):
        harness.life(place=place, count=count)
    yield "the end", harness


def _moments(homes: Iterator[Harness], moments: random.Random, seconds: float) -> Killed:
    """Kills spread over the time that the work takes; a home is killed until its work is done."""
    kills = 0
    while kills < MOMENTS:
        harness, first = next(homes), kills
        while kills < MOMENTS and harness.life(delay=moments.uniform(0.02, seconds)).status:
            kills += 1
        yield f"kills {first} to {kills}", harness


if __name__ == "__main__":
    sys.exit(main())
