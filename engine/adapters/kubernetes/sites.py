"""Where the pods of an execution are: a cluster and a namespace, by project and domain. Opened when first needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack

import anyio
from anyio.abc import TaskGroup

from engine.adapters.kubernetes.access import Login
from engine.adapters.kubernetes.cluster import Cluster
from engine.adapters.kubernetes.informer import Informer
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.pace import Pace
from engine.adapters.kubernetes.pods import Pods
from engine.adapters.kubernetes.status import Pod
from engine.adapters.slots import Slots
from engine.model.ids import ExecutionId

_VARIABLE = re.compile(r"\{\{\s*(project|domain)\s*\}\}")
_Place = tuple[str | None, str]
"""A context and a namespace."""


class Sites:
    """`told`: of every change of a pod, and where it is."""

    def __init__(
        self,
        tasks: TaskGroup,
        exits: AsyncExitStack,
        options: ClusterOptions,
        stop_seconds: float,
        told: Callable[[Pods, Pod], None],
    ) -> None:
        self._tasks, self._exits, self._options = tasks, exits, options
        self._stop_seconds, self._told = stop_seconds, told
        self._clusters: dict[str | None, Cluster] = {}
        self._creating: dict[str | None, Slots] = {}
        self._sites: dict[_Place, Pods] = {}
        self._opening = anyio.Lock()

    def __iter__(self) -> Iterator[Pods]:
        return iter(tuple(self._sites.values()))

    def namespace(self, execution: ExecutionId) -> str:
        parts = {"project": execution.project, "domain": execution.domain}
        return _VARIABLE.sub(lambda found: parts[found[1]], self._options.namespace)

    async def of(self, execution: ExecutionId) -> Pods:
        """Raises BadInput where the cluster's address or credentials can't be found."""
        contexts = self._options.contexts
        context = contexts.get(f"{execution.project}:{execution.domain}", self._options.context)
        place = context, self.namespace(execution)
        if place not in self._sites:
            async with self._opening:
                if place not in self._sites:
                    self._sites[place] = await self._open(*place)
        return self._sites[place]

    async def _open(self, context: str | None, namespace: str) -> Pods:
        options = self._options
        if context not in self._clusters:
            pace = Pace(options.per_second, options.burst)
            opening = Cluster.open(Login(options.kubeconfig, context), pace, 2 * options.calls)
            self._clusters[context] = await self._exits.enter_async_context(opening)
            self._creating[context] = Slots(options.calls)
        cluster = self._clusters[context]
        informer = Informer(
            cluster,
            namespace,
            options.group,
            idle_seconds=options.idle_seconds,
            resync_seconds=options.resync_seconds,
            told=lambda pod: self._told(site, pod),
        )
        site = Pods(cluster, namespace, informer, self._creating[context], self._stop_seconds)
        self._tasks.start_soon(informer.run)
        return site
