"""Which nodes count as ready, what is asked of a cluster, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping

import anyio
import pytest
from msgspec import structs

from engine.adapters.kubernetes.classify import Answer
from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.nodes import FOUND_SECONDS, MISSED_SECONDS, ReadyNodes, ready_nodes
from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Failure
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.placement import NodePool, Placement, PlacementRules
from engine.ports.taskrunner import TaskRequest
from tests import programs

ARM64 = Architecture.ARM64
POOL = NodePool({"kubernetes.io/arch": "arm64", "a": "b"})
RULES = PlacementRules({ARM64: POOL})
NOW = 1_000_000.0
LONG_AGO, JUST_NOW = "1970-01-12T13:45:00Z", "1970-01-12T13:46:20Z"
"""100 and 20 seconds before NOW."""
KEY = AttemptKey(ExecutionId("p", "d", "e"), "n0")
REQUEST = TaskRequest(KEY, programs.task("m.t"), (), {}, "", placement=Placement(ARM64))


def node(ready: str | None, since: str = LONG_AGO) -> object:
    conditions = [{"type": "MemoryPressure", "status": "False"}]
    if ready is not None:
        conditions.append({"type": "Ready", "status": ready, "lastTransitionTime": since})
    return {"metadata": {"name": "x"}, "spec": {}, "status": {"conditions": conditions}}


class Cluster:
    def __init__(self, *pages: list[object] | Answer) -> None:
        """What it answers, in order; the last for ever."""
        self.pages, self.asked = list(pages), list[Mapping[str, str]]()

    async def get(self, path: str, params: Mapping[str, str] = {}) -> bytes:
        assert path == "/api/v1/nodes"
        self.asked.append(params)
        await anyio.lowlevel.checkpoint()
        page = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        if isinstance(page, Answer):
            raise CallFailed(page)
        more = f"after-{len(self.asked)}" if len(self.pages) > 1 else ""
        return json.dumps({"kind": "NodeList", "metadata": {"continue": more}, "items": page}).encode()


def vetting(cluster: Cluster, rules: PlacementRules = RULES) -> ReadyNodes:
    def of(execution: ExecutionId) -> Cluster:
        return cluster

    return ReadyNodes(of, rules, lambda: NOW)


async def test_nodes_are_counted_page_by_page() -> None:
    ready, flapping = node("True"), node("Unknown", JUST_NOW)
    cluster = Cluster([ready, node("False"), node(None)], [flapping, node("Unknown"), ready], [])
    assert await ready_nodes(cluster, POOL, NOW) == 3
    selector = {"limit": "500", "labelSelector": "a=b,kubernetes.io/arch=arm64"}
    assert cluster.asked == [selector, {**selector, "continue": "after-1"}]


async def test_one_is_enough() -> None:
    cluster = Cluster([node("True")], [node("True")], [])
    assert await ready_nodes(cluster, POOL, NOW, enough=1) == 1
    assert [it["limit"] for it in cluster.asked] == ["20"]


@pytest.mark.parametrize("nodes", [[], [node("False"), node("Unknown"), node(None)]])
async def test_without_one_the_task_fails_with_the_reason(nodes: list[object]) -> None:
    assert await vetting(Cluster(nodes)).refuses(REQUEST, resumed=False) == Failure(
        "ArchitectureUnavailable",
        ErrorKind.USER,
        "task m.t is for arm64, and the cluster has no ready node for it (a=b,kubernetes.io/arch=arm64), nor does an "
        "autoscaler make one (architectures.arm64.autoscaled is false); nothing was started",
    )


@pytest.mark.parametrize("nodes", [[node("True")], [node("False", JUST_NOW)]])
async def test_with_one_it_goes_on(nodes: list[object]) -> None:
    assert await vetting(Cluster(nodes)).refuses(REQUEST, resumed=False) is None


async def test_what_an_autoscaler_makes_and_what_may_run_already_is_not_asked_for() -> None:
    cluster = Cluster([])
    scaled = PlacementRules({ARM64: structs.replace(POOL, autoscaled=True)})
    assert await vetting(cluster, scaled).refuses(REQUEST, resumed=False) is None
    assert await vetting(cluster).refuses(REQUEST, resumed=True) is None
    anywhere = structs.replace(REQUEST, placement=Placement())
    assert await vetting(cluster).refuses(anywhere, resumed=False) is None
    assert cluster.asked == []


@pytest.mark.parametrize("answer", [Answer(0), Answer(403, "Forbidden", "nodes is forbidden"), Answer(500)])
async def test_a_cluster_that_does_not_say_is_no_reason(answer: Answer) -> None:
    assert await vetting(Cluster(answer)).refuses(REQUEST, resumed=False) is None


@pytest.mark.looptime
async def test_answers_count_for_a_while() -> None:
    cluster = Cluster([], [node("True")])
    check = vetting(cluster)
    found: list[Failure | None] = []

    async def ask() -> None:
        found.append(await check.refuses(REQUEST, resumed=False))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask)
    assert None not in found
    assert len(cluster.asked) == 1
    await anyio.sleep(MISSED_SECONDS)
    assert await check.refuses(REQUEST, resumed=False) is None
    await anyio.sleep(FOUND_SECONDS - 1)
    assert await check.refuses(REQUEST, resumed=False) is None
    assert len(cluster.asked) == 2
