"""Whole executions with real tasks, while S3 refuses half of what the engine asks, is silent, or breaks off."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread

from tests.contract.flaky import Answer, Cut, Fault, Lost, Request, Reset, Silence, flaky
from tests.contract.s3_world import Place
from tests.service.command import WORKFLOWS, Done, Propwash, propwash

__all__ = ["propwash"]
pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("s3"), pytest.mark.timeout(300)]
EXAMPLES = Path(__file__).parents[2] / "examples"
TASK = "app/task-of-the-test"
"""What the requests of tasks say: those are flytekit's own, and are not spoilt."""


class Trouble:
    """What happens to a call of the engine: half of them are refused, one in ten is worse."""

    def __init__(self) -> None:
        self._chance = random.Random(11)
        self.counts: Counter[str] = Counter()

    def choose(self, request: Request) -> Fault | None:
        if TASK in request.headers.get("user-agent", ""):
            self.counts["task"] += 1
            return None
        fault = self._fault(request)
        self.counts[type(fault).__name__ if fault else "fine"] += 1
        return fault

    def _fault(self, request: Request) -> Fault | None:
        dice = self._chance.random()
        if dice < 0.5:
            return Answer(503, "SlowDown")
        if dice < 0.55:
            return Cut(1) if request.method == "GET" else Lost()
        if dice < 0.58:
            return Reset()
        # A look at what is registered has the time limits of the defaults, which a test can't wait for.
        return Silence() if dice < 0.6 and "registry" not in request.target else None


async def run(propwash: Propwash, file: Path, workflow: str, *inputs: str) -> tuple[Done, Trouble]:
    """Register and submit while S3 is in trouble."""
    trouble, place = Trouble(), Place.found()
    async with flaky(place.endpoint, trouble.choose) as (_, endpoint):
        store = ["--set", f"store.uri={place.fresh()}", "--set", f"s3.endpoint={endpoint}"]
        patience = ["--set", "s3.read_seconds=1", "--set", "s3.connect_seconds=1"]
        call = partial(propwash, environ=place.environ)
        words = ["register", str(file), "--version", "v1", *store, *patience]
        registered = await to_thread.run_sync(lambda: call(*words))
        assert registered.code == 0, registered.err
        words = ["submit", workflow, *inputs, "--name", "first", "--env", f"AWS_SDK_UA_APP_ID={TASK[4:]}", "--json"]
        done = await to_thread.run_sync(lambda: call(*words, *store, *patience))
    return done, trouble


async def test_a_map_is_gathered_offloaded_and_passed_on(propwash: Propwash) -> None:
    done, trouble = await run(propwash, EXAMPLES / "big_map.py", "big_map", "--input", "count=8")
    assert done.code == 0, done.err
    document = done.document
    assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"o0": 8_000_000})
    assert {node["attempts"] for node in document["nodes"]} == {1}, "nothing was lost, so nothing ran twice"
    assert trouble.counts["task"] > 0
    for kind in ("Answer", "Cut", "Lost", "Silence", "fine"):
        assert trouble.counts[kind] > 0, trouble.counts


async def test_a_failure_of_the_authors_is_still_told_as_what_it_is(propwash: Propwash) -> None:
    done, trouble = await run(propwash, WORKFLOWS / "endings.py", "even", "--input", "n=1")
    assert trouble.counts["Answer"] > 0
    assert (done.code, done.document["phase"], done.document["error"]["kind"]) == (1, "FAILED", "USER"), done.err
