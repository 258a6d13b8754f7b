"""What is asked of the world before a task is started, as the settings say; and the same asked by a person."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.adapters.processes.machine import ThisMachine
from engine.model.architectures import Architecture
from engine.model.errors import BadInput
from engine.model.ids import ExecutionId
from engine.model.placement import PlacementRules
from engine.ports.vetting import Vetting
from engine.routing import this_machine

if TYPE_CHECKING:
    from config.settings import Settings
    from engine.adapters.kubernetes.cluster import Cluster
    from engine.adapters.kubernetes.runner import PodRunner


def vetting_of_processes(settings: Settings) -> tuple[Vetting, ...]:
    return () if settings.processes.ignore_architecture else (ThisMachine(this_machine()),)


@asynccontextmanager
async def vetting_of_pods(
    settings: Settings, rules: PlacementRules, pods: PodRunner
) -> AsyncIterator[tuple[Vetting, ...]]:
    """Until the block is left."""
    from engine.adapters.images.check import ImageCheck
    from engine.adapters.kubernetes.nodes import ReadyNodes

    def cluster_of(execution: ExecutionId) -> Cluster:
        return pods.sites.of(execution).pods.cluster

    said = settings.architectures
    async with AsyncExitStack() as stack:
        found: list[Vetting] = []
        if said.fail_fast:
            found.append(ReadyNodes(cluster_of, rules, time.time))
        if said.verify_images:
            opening = ImageCheck.open(said.registry_auth_file, said.registry_seconds)
            found.append(await stack.enter_async_context(opening))
        yield tuple(found)


@dataclass(frozen=True, slots=True)
class Nodes:
    ready: Mapping[Architecture, int]
    """Empty where there is no cluster, or it does not say."""
    problem: str = ""


async def count_nodes(settings: Settings, rules: PlacementRules) -> Nodes:
    """The nodes of each architecture that are ready in the cluster of the settings, where tasks run in one."""
    if settings.tasks.runner != "kubernetes" or not rules.architectures:
        return Nodes({})
    from engine.adapters.kubernetes.access import Login
    from engine.adapters.kubernetes.cluster import CallFailed, Cluster
    from engine.adapters.kubernetes.nodes import ready_nodes
    from engine.adapters.kubernetes.pace import Pace

    said = settings.kubernetes
    pace = Pace(said.calls_per_second, said.burst)
    try:
        async with Cluster.open(Login(said.kubeconfig, said.context), pace, 1) as cluster:
            pools = rules.architectures.items()
            return Nodes({it: await ready_nodes(cluster, pool, time.time()) for it, pool in pools})
    except (BadInput, CallFailed) as problem:
        return Nodes({}, str(problem))
