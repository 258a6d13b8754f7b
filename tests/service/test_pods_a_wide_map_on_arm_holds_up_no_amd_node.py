"""200 elements on ARM64 nodes and a chain on AMD64 nodes beside them, with an engine that is killed in the middle."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.clusters import Document, History, Space, end_of, phases, space
from tests.service.command import LIMIT_SECONDS, Propwash, played

__all__ = ["played"]
pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]
ELEMENTS, CHAIN = 200, 5
ARCHITECTURES = {
    "architectures.amd64": "{}",
    "architectures.arm64": "{tolerations: [{key: kubernetes.io/arch, value: arm64, effect: NoSchedule}]}",
    "kubernetes.calls_per_second": "1000",
}


@pytest.fixture
async def at() -> AsyncIterator[Space]:
    async with space() as made:
        yield made


def task_of(pod: Document) -> str:
    return str(pod["metadata"]["labels"]["task-name"]).rpartition(".")[2]


async def test_a_map_and_a_chain_on_two_architectures(at: Space, tmp_path: Path, played: str) -> None:
    propwash, since = Propwash(tmp_path), await at.version()
    sets = [word for each in at.settings(more=ARCHITECTURES) for word in ("--set", each)]
    numbers = list(range(ELEMENTS))
    words = ["wide_and_long", "--ns", json.dumps(numbers), "--n", "1"]
    seen = History()
    async with anyio.create_task_group() as group:
        # From the first: the API server remembers only the latest of so many pods' changes.
        group.start_soon(seen.follow, at, since)
        with propwash.started("run", "--home", str(propwash.home), "--name", "e", *sets, played, *words) as engine:
            await at.until(lambda pods: [*phases(pods).values()].count("Running") >= ELEMENTS // 2)
            engine.kill()
            await to_thread.run_sync(lambda: engine.communicate(timeout=LIMIT_SECONDS))
        done = await to_thread.run_sync(lambda: propwash("resume", "--home", str(propwash.home), *sets))
        await at.mark_end()
    assert done.code == 0, done.err
    shown = await to_thread.run_sync(lambda: propwash("get", "e", "--json"))
    assert shown.document["outputs"] == {"o0": numbers, "o1": 1}

    nodes = {(task_of(pod), pod["spec"]["nodeName"]) for pod in seen.last.values()}
    assert (len(seen.made), seen.twice, seen.deleted) == (ELEMENTS + CHAIN, [], set())
    assert {node for name, node in nodes if name == "on_amd"} == {"amd64"}
    assert {node for name, node in nodes if name != "on_amd"} == {"arm64"}
    ends = {
        name: max(end_of(p)["finishedAt"] for p in seen.last.values() if p["spec"]["nodeName"] == name)
        for name in ("amd64", "arm64")
    }
    assert ends["amd64"] < ends["arm64"], "the chain did not wait for the map"
