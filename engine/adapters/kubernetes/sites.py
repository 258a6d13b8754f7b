"""Where the pods of an execution are: a cluster and a namespace, by project and domain. Opened when first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from anyio.abc import TaskGroup

from engine.adapters.kubernetes.clusters import Clusters, Reached, namespace_of
from engine.adapters.kubernetes.custom import Rule
from engine.adapters.kubernetes.informer import Informer, T
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.pods import Objects, Pods
from engine.adapters.kubernetes.status import Pod, Resource, Thing
from engine.model.ids import ExecutionId

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
        clusters: Clusters,
        options: ClusterOptions,
        stop_seconds: float,
        told: Callable[[Objects[Any], Thing], None],
    ) -> None:
        self._tasks, self._clusters, self._options = tasks, clusters, options
        self._stop_seconds, self._told = stop_seconds, told
        self._sites: dict[_Place, Site] = {}

    def objects(self) -> list[Objects[Any]]:
        """All collections that are watched."""
        found: list[Objects[Any]] = []
        for site in self._sites.values():
            found += [site.pods, *site.opened.values()]
        return found

    def of(self, execution: ExecutionId) -> Site:
        context, reached = self._clusters.of(execution)
        place = context, namespace_of(self._options, execution)
        if place not in self._sites:
            watch = partial(self._objects, reached, place[1])
            self._sites[place] = Site(watch(f"/api/v1/namespaces/{place[1]}/pods", Pod), watch)
        return self._sites[place]

    def known(self, execution: ExecutionId) -> Site | None:
        """The same, if it has been opened."""
        context, _ = self._clusters.of(execution)
        return self._sites.get((context, namespace_of(self._options, execution)))

    def _objects(self, reached: Reached, namespace: str, path: str, kind: type[T]) -> Objects[T]:
        """A collection, watched from now on."""
        options, cluster = self._options, reached.cluster

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
        objects = Objects(cluster, namespace, informer, reached.creating, self._stop_seconds)
        self._tasks.start_soon(informer.run)
        return objects
