"""The whole table on engines that are killed: `python -m tests.service.table_kills FOLDER` is the life of the first.

It says `accepted` when every submission is acknowledged; the others are `propwash resume`.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from config.load import load
from config.settings import Settings
from engine.homes import open_home
from tests.service.cases import Results, check
from tests.service.command import Propwash
from tests.service.conformance import Comparison, as_it_is, found_locally
from tests.service.table import TABLE, table_here

ROOT = Path(__file__).parents[2]
HOME = "engine"
LIMIT_SECONDS = 600
"""For the last engine."""


class Doomed(Comparison):
    """Local execution comes first, so that a kill hits the engine at work."""

    async def run(self, settings: Settings) -> None:
        async with open_home(self.home, settings) as engine:
            await self._prepare(engine, self.together)
            await to_thread.run_sync(self._run_locally)
            await self._run(engine)

    def accepted(self) -> None:
        print("accepted", flush=True)


def wrong_after(folder: Path, kills: int, moments: random.Random) -> list[str]:
    """The table with `kills` engines killed one after another, and one that finishes: what is not as it should be."""
    folder.mkdir()
    propwash = Propwash(folder)
    propwash.home = folder / HOME
    with subprocess.Popen(
        [sys.executable, "-m", __spec__.name, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        said = first.stdout.readline()
        _kill(first, moments)
    assert said == "accepted\n", said
    for _ in range(kills - 1):
        with propwash.started("resume", "--json") as process:
            _kill(process, moments)
    with propwash.started("resume", "--json") as process:
        process.communicate(timeout=LIMIT_SECONDS)
    documents = {found["execution"]["name"]: found for found in propwash("list", "--json", "--no-children").document}
    results = Results(documents, {}, found_locally(folder), propwash.home)
    return [problem for name in table_here() for problem in _problem(results, name)]


def _kill(process: subprocess.Popen[str], moments: random.Random) -> None:
    try:
        process.wait(moments.uniform(0.5, 20))
    except subprocess.TimeoutExpired:
        process.kill()


def _problem(results: Results, name: str) -> Sequence[str]:
    try:
        check(results, name, TABLE[name])
    except (AssertionError, LookupError) as problem:
        return [f"{name}: {problem!r}"[:500]]
    return []


if __name__ == "__main__":
    anyio.run(Doomed(table_here(), Path(sys.argv[1]), as_it_is, "table").run, load(None, (), {}))
