"""The whole path: the command, the state machine, pods on a real API server, flytekit in them, files, verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from anyio import to_thread

from tests.clusters import Space, engine_context, space
from tests.service.command import WORKFLOWS, Done, Propwash

pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]


class Cluster:
    """The command, with an engine whose tasks are pods of a namespace of the test's own."""

    def __init__(self, at: Space, folder: Path) -> None:
        self.at, self.propwash = at, Propwash(folder)
        context = engine_context(at)
        self.settings = [
            "tasks.runner=kubernetes",
            f"kubernetes.kubeconfig={at.kubeconfig}",
            f"kubernetes.namespace={at.name}",
            "pods.shared_folders=true",
            *([f"kubernetes.context={context}"] if context else []),
        ]

    async def run(self, *words: str, sets: tuple[str, ...] = ()) -> Done:
        given = [word for setting in (*self.settings, *sets) for word in ("--set", setting)]
        words = ("run", "--home", str(self.propwash.home), "--json", *given, *words)
        return await to_thread.run_sync(lambda: self.propwash(*words))


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with space() as at:
        yield Cluster(at, tmp_path)


async def test_a_chain(cluster: Cluster) -> None:
    done = await cluster.run(str(WORKFLOWS / "chain.py"), "chain", "--n", "3")
    assert done.code == 0, done.err
    pods = await cluster.at.pods()
    print(done.out, {name: pod["metadata"]["labels"] for name, pod in pods.items()})
    assert {pod["status"]["phase"] for pod in pods.values()} == {"Succeeded"}
