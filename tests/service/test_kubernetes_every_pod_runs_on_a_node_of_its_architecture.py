"""Real flytekit tasks of several architectures on a real API server and scheduler: where their pods have run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.clusters import Document, space
from tests.contract.registries import registry
from tests.service.command import WORKFLOWS
from tests.service.test_pods_run_real_workflows import Cluster

pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit"), pytest.mark.timeout(240)]

ROUTED = str(WORKFLOWS / "routed.py")
CONFIGURED = (
    "architectures.amd64={}",
    "architectures.arm64={tolerations: [{key: kubernetes.io/arch, value: arm64, effect: NoSchedule}]}",
)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with space() as at:
        yield Cluster(at, tmp_path)


def nodes_of(pods: dict[str, Document]) -> dict[str, set[str]]:
    """By the name of the task: the architectures of the nodes that its pods were on."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for pod in pods.values():
        name = pod["metadata"]["labels"]["task-name"].rpartition("-")[2].rpartition(".")[2]
        found[name].add(pod["spec"]["nodeName"])
    return dict(found)


async def test_each_task_runs_where_it_or_its_plan_says(cluster: Cluster) -> None:
    done = await cluster.run(ROUTED, "routed", "--n", "1", sets=(*CONFIGURED, "architectures.default=amd64"))
    assert done.code == 0, done.err
    assert done.document["outputs"] == {"o0": 29}
    pods = await cluster.at.pods()
    by_task = nodes_of(pods)
    assert by_task == {
        "anywhere": {"amd64", "arm64"},
        "on_amd": {"amd64", "arm64"},
        "on_arm": {"arm64"},
        "arraynode": {"arm64"},
        "plans": {"arm64"},
        "planned": {"arm64"},
        "total": {"amd64"},
    }, "those of the child launch plan are on arm64, whatever they are elsewhere"
    labels = {
        (pod["metadata"]["labels"]["propwash.dev/architecture"], pod["spec"]["nodeName"]) for pod in pods.values()
    }
    assert labels == {("amd64", "amd64"), ("arm64", "arm64")}


async def test_an_execution_s_word_wins(cluster: Cluster) -> None:
    done = await cluster.run("--architecture", "arm64", ROUTED, "routed", "--n", "1", sets=CONFIGURED)
    assert done.code == 0, done.err
    assert set().union(*nodes_of(await cluster.at.pods()).values()) == {"arm64"}


async def test_an_architecture_without_a_ready_node_fails_at_once(cluster: Cluster) -> None:
    sets = (*CONFIGURED, "architectures.arm_v7={}")
    done = await cluster.run("--architecture", "arm-v7", ROUTED, "child", "--n", "1", sets=sets)
    assert done.code == 1
    error = done.document["error"]
    assert (error["code"], error["kind"], error["node"]) == ("ArchitectureUnavailable", "USER", "n0")
    assert "the cluster has no ready node for it (kubernetes.io/arch=arm)" in error["message"]
    assert await cluster.at.pods() == {}


async def test_the_nodes_of_the_cluster_are_counted(cluster: Cluster) -> None:
    given = [word for setting in (*cluster.settings, *CONFIGURED) for word in ("--set", setting)]
    done = cluster.propwash("architectures", "--json", *given, "--set", "architectures.arm_v7={}")
    assert done.code == 0, done.err
    counted = {it["architecture"]: it["ready_nodes"] for it in done.document["architectures"]}
    assert counted == {"amd64": 2, "arm64": 2, "arm-v7": 0}
    wrong = cluster.propwash("architectures", *given, "--set", "kubernetes.context=nobody")
    assert wrong.code == 0
    assert "the nodes can't be counted: " in wrong.err
    assert "READY NODES" not in wrong.out


ONE_TASK = """
from flytekit import task, workflow

@task(container_image={image!r})
def add(n: int) -> int:
    return n + 1

@workflow
def wf(n: int) -> int:
    return add(n=n)
"""


async def test_an_image_that_is_not_built_for_it_fails_before_there_is_a_pod(cluster: Cluster, tmp_path: Path) -> None:
    sets = (*CONFIGURED, "architectures.verify_images=true")
    async with registry() as there:
        there.push("team/x:v1", ["linux/amd64"])
        path = anyio.Path(tmp_path / "flow.py")
        await path.write_text(ONE_TASK.format(image=there.image("team/x:v1")))
        done = await cluster.run("--architecture", "arm64", str(path), "wf", "--n", "1", sets=sets)
        assert done.code == 1
        error = done.document["error"]
        assert (error["code"], error["kind"], error["node"]) == ("ImageNotBuiltForArchitecture", "USER", "n0")
        assert error["message"].endswith("is not built for arm64: it is built for linux/amd64; nothing was started")
        assert await cluster.at.pods() == {}

        done = await cluster.run("--architecture", "amd64", str(path), "wf", "--n", "1", sets=sets)
        assert done.document["outputs"] == {"o0": 2}, done.err


async def test_a_program_that_its_node_can_t_execute_has_the_same_code(cluster: Cluster, tmp_path: Path) -> None:
    path = anyio.Path(tmp_path / "flow.py")
    await path.write_text(ONE_TASK.format(image="team/built-for-amd64:v1"))
    done = await cluster.run("--architecture", "arm64", str(path), "wf", "--n", "1", sets=CONFIGURED)
    assert done.code == 1
    error = done.document["error"]
    assert (error["code"], error["kind"], error["node"]) == ("ImageNotBuiltForArchitecture", "USER", "n0")
    assert (
        "image team/built-for-amd64:v1 is not built for arm64: node arm64 can't execute its program" in error["message"]
    )
    assert len(await cluster.at.pods()) == 1, "no retry"
