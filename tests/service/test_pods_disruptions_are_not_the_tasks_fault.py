"""Evicted and preempted pods cost the author nothing; an image or a machine that can't run a task is named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.clusters import History, space
from tests.service.command import Done, played
from tests.service.test_pods_run_real_workflows import Cluster

__all__ = ["played"]
pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]
SPOT = (
    "interruptible.node_selector={propwash.dev/spot: 'true'}",
    "interruptible.tolerations=[{key: propwash.dev/spot, value: 'true', effect: NoSchedule}]",
    "retries.system_wait_seconds=0",
)


class Played(Cluster):
    """Runs workflows of played.py, and tells what has become of their pods."""

    package: str

    async def play(self, workflow: str, *inputs: str, sets: tuple[str, ...] = ()) -> tuple[Done, History]:
        since = await self.at.version()
        done = await self.run(self.package, workflow, *(inputs or ("--n", "7")), sets=sets)
        return done, await self.at.history(since)


@pytest.fixture
async def cluster(tmp_path: Path, played: str) -> AsyncIterator[Played]:
    async with space() as at:
        made = Played(at, tmp_path)
        made.package = played
        yield made


async def test_a_task_without_retries_survives_two_disruptions(cluster: Played) -> None:
    done, seen = await cluster.play("disruption", sets=SPOT)
    assert (done.code, done.document["outputs"]) == (0, {"o0": 7}), done.err
    assert len(seen.made) == 3
    assert seen.nodes() == {"spot-amd64"}


async def test_so_does_every_element_of_a_map(cluster: Played) -> None:
    done, seen = await cluster.play("disruptions", "--ns", "[4, 5, 6]", sets=SPOT)
    assert (done.code, done.document["outputs"]) == (0, {"o0": [4, 5, 6]}), done.err
    assert len(seen.made) == 9


async def test_the_last_try_is_on_nodes_that_nobody_takes_away(cluster: Played) -> None:
    done, seen = await cluster.play("no_end_of_disruptions", sets=SPOT)
    error = done.document["error"]
    assert (done.code, error["kind"]) == (1, "SYSTEM")
    assert "low on resource" in error["message"]
    assert sorted(pod["spec"]["nodeName"] for pod in seen.last.values()) == ["amd64", *["spot-amd64"] * 3]


async def test_a_task_that_takes_too_much_memory_fails_at_once(cluster: Played) -> None:
    done, seen = await cluster.play("out_of_memory")
    error = done.document["error"]
    assert (done.code, error["kind"], error["code"]) == (1, "USER", "RetriesExhausted|OOMKilled")
    assert len(seen.made) == 1


async def test_an_image_that_comes_late_costs_nothing(cluster: Played) -> None:
    done, seen = await cluster.play("an_image_comes_late")
    assert (done.code, done.document["outputs"]) == (0, {"o0": 7}), done.err
    assert len(seen.made) == 1


async def test_an_image_without_a_build_for_the_node_is_named_and_its_pod_goes(cluster: Played) -> None:
    done, seen = await cluster.play("no_image", sets=("pods.image_grace_seconds=1", "retries.user_wait_seconds=0"))
    message = done.document["error"]["message"]
    assert done.code == 1
    assert "r/only-arm64:1" in message
    assert "no matching manifest for linux/amd64" in message
    assert seen.deleted == set(seen.made)


async def test_an_image_for_another_machine_is_named(cluster: Played) -> None:
    done, seen = await cluster.play("another_machines_image")
    error = done.document["error"]
    assert (done.code, error["kind"]) == (1, "USER")
    assert "r/built-for-arm64:1" in error["message"]
    assert "architecture" in error["message"]
    assert len(seen.made) == 1


async def test_a_pod_that_fits_nowhere_says_why_when_its_time_is_over(cluster: Played) -> None:
    nowhere = "pods.template={spec: {nodeSelector: {there: is-none}}}"
    done, seen = await cluster.play(
        "disruption", sets=(nowhere, "pods.pending_seconds=2", "retries.user_wait_seconds=0")
    )
    error = done.document["error"]
    assert (done.code, error["code"]) == (1, "RetriesExhausted|PodPendingTimeout")
    assert "didn't match Pod's node affinity/selector" in error["message"]
    assert seen.deleted == set(seen.made)
