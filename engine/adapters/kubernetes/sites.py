"""Where the pods of an execution are: a cluster and a namespace, by project and domain. Opened when first needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup

from engine.adapters.kubernetes.access import Login
from engine.adapters.kubernetes.cluster import Cluster
from engine.adapters.kubernetes.custom import Rule
from engine.adapters.kubernetes.informer import Informer, T
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.pace import Pace
from engine.adapters.kubernetes.pods import Objects, Pods
from engine.adapters.kubernetes.status import Pod, Resource, Thing
from engine.adapters.slots import Slots
from engine.model.ids import ExecutionId

_VARIABLE = re.compile(r"\{\{\s*(project|domain)\s*\}\}")
_Place = tuple[str | None, str]
"""A context and a namespace."""


class Site:
    """A namespace: its pods, and the custom resources of the task types that have been run or stopped there."""

    def __init__(self, pods: Pods, watch: Callable[[str, type[Resource]], Objects[Resource]]) -> None:
        self.pods, self._watch = pods, watch
        self.opened: dict[str, Objects[Resource]] = {}
        """By task type."""

    def resources(self, task_type: str, rule: Rule) -> Objects[Resource]:
        if task_type not in self.opened:
            self.opened[task_type] = self._watch(rule.path(self.pods.namespace), Resource)
        return self.opened[task_type]


class Sites:
    """`told`: of every change of a pod, and where it is."""

    def __init__(
        self,
        tasks: TaskGroup,
        exits: AsyncExitStack,
        options: ClusterOptions,
        stop_seconds: float,
        told: Callable[[Objects[Any], Thing], None],
    ) -> None:
        self._tasks, self._exits, self._options = tasks, exits, options
        self._stop_seconds, self._told = stop_seconds, told
        self._clusters: dict[str | None, Cluster] = {}
        self._creating: dict[str | None, Slots] = {}
        self._sites: dict[_Place, Site] = {}
        self._opening = anyio.Lock()

    def objects(self) -> list[Objects[Any]]:
        """All collections that are watched."""
        found: list[Objects[Any]] = []
        for site in self._sites.values():
            found += [site.pods, *site.opened.values()]
        return found

    def namespace(self, execution: ExecutionId) -> str:
        parts = {"project": execution.project, "domain": execution.domain}
        return _VARIABLE.sub(lambda found: parts[found[1]], self._options.namespace)

    async def of(self, execution: ExecutionId) -> Site:
        """Raises BadInput where the cluster's address or credentials can't be found."""
        contexts = self._options.contexts
        context = contexts.get(f"{execution.project}:{execution.domain}", self._options.context)
        place = context, self.namespace(execution)
        if place not in self._sites:
            async with self._opening:
                if place not in self._sites:
                    self._sites[place] = await self._open(*place)
        return self._sites[place]

    async def _open(self, context: str | None, namespace: str) -> Site:
        options = self._options
        if context not in self._clusters:
            pace = Pace(options.per_second, options.burst)
            opening = Cluster.open(Login(options.kubeconfig, context), pace, 2 * options.calls)
            self._clusters[context] = await self._exits.enter_async_context(opening)
            self._creating[context] = Slots(options.calls)
        watch = partial(self._objects, context, namespace)
        return Site(watch(f"/api/v1/namespaces/{namespace}/pods", Pod), watch)

    def _objects(self, context: str | None, namespace: str, path: str, kind: type[T]) -> Objects[T]:
        """A collection, watched from now on."""
        options, cluster = self._options, self._clusters[context]

        def told(thing: T) -> None:
            if thing.over or thing.leaving:
                objects.quota.freed()
            self._told(objects, thing)

        informer = Informer(
            cluster,
            path,
            kind,
            options.group,
            idle_seconds=options.idle_seconds,
            resync_seconds=options.resync_seconds,
            told=told,
        )
        objects = Objects(cluster, namespace, informer, self._creating[context], self._stop_seconds)
        self._tasks.start_soon(informer.run)
        return objects
