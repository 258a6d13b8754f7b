"""PodRunner: attempts as pods. They outlive the engine: the next owner of an execution finds them by their names."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from functools import partial
from types import TracebackType
from typing import Self

import anyio
from msgspec import structs

from engine.adapters.attempts import Attempts
from engine.adapters.kubernetes import custom
from engine.adapters.kubernetes.attempting import Attempting, ready
from engine.adapters.kubernetes.carrying import NO_IMAGE
from engine.adapters.kubernetes.clusters import Clusters
from engine.adapters.kubernetes.custom import Rule
from engine.adapters.kubernetes.keeping import removable
from engine.adapters.kubernetes.leftovers import Leftovers
from engine.adapters.kubernetes.links import links
from engine.adapters.kubernetes.logs import LogKeeper, Put, printed
from engine.adapters.kubernetes.naming import Json, pod_name
from engine.adapters.kubernetes.notes import Notes
from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.patience import Patience
from engine.adapters.kubernetes.pods import Pods, Tell
from engine.adapters.kubernetes.podtemplates import PodTemplates
from engine.adapters.kubernetes.sites import Site, Sites
from engine.adapters.kubernetes.sources import Sources
from engine.adapters.kubernetes.spec import pod_of
from engine.adapters.kubernetes.states import State
from engine.adapters.kubernetes.status import Pod, Resource
from engine.adapters.kubernetes.verdict import state_of
from engine.adapters.kubernetes.watching import Watching
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, TaskRequest

CLEANUP_SECONDS = 30.0


class PodRunner:
    """A TaskRunner. Enter it (`async with`) before use; when the block ends its pods go on.

    `max_pods`: attempts at once; None = any number. `put`: keeps what pods print.
    `rules`: of the task types that other operators run, by type. `sources`: modules that pods fetch; None: they have
    them.
    """

    outlives = True

    def __init__(
        self,
        cluster: ClusterOptions,
        pods: PodOptions,
        *,
        put: Put,
        max_pods: int | None = None,
        rules: Mapping[str, Rule] = {},
        sources: Sources | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._cluster, self._options, self._now, self._rules = cluster, pods, now, rules
        self._sources = sources
        self._attempts = Attempts(max_pods, outlive=True)
        self._logs = LogKeeper(put, pods.log_limit, at_once=8)
        self._templates = PodTemplates()
        self._exits = AsyncExitStack()
        self.notes = Notes(put)

    async def __aenter__(self) -> Self:
        """Raises BadInput where a cluster can't be used, and would not be usable later either."""
        self._clusters = await self._exits.enter_async_context(Clusters.open(self._cluster))
        self._tasks = await self._exits.enter_async_context(anyio.create_task_group())
        options, stop_seconds = self._cluster, self._options.stop_seconds
        self._tasks.start_soon(self.notes.run)
        self._tasks.start_soon(self._clusters.keep_asking)
        self._leftovers = Leftovers(self._tasks, self._attempts.__contains__)
        self.sites = Sites(self._tasks, self._clusters, options, stop_seconds, self._leftovers.see)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        self._tasks.cancel_scope.cancel()
        try:
            return await self._exits.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            if group.exceptions != (error,):
                raise
            return None
        finally:
            with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
                await self._attempts.settle()

    async def refuses(self, task: TaskSpec) -> str:
        """See TaskRunner. Whether a cluster has what a task needs is known when its pod is asked for."""
        return NO_IMAGE if task.raw_container and not self._options.engine_image else ""

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        """See TaskRunner."""
        try:
            return await self._attempts.run(request.key, started, partial(self._perform, request), request.root)
        finally:
            self.notes.forget(request.key)

    async def stop(self, key: AttemptKey) -> None:
        """See TaskRunner."""
        self._leftovers.doom(key)
        await self._attempts.stop(key)
        site = await self._site(key, _silent)
        await self._leftovers.remove(site.pods, key)
        for task_type in self._rules:
            if (resources := site.opened.get(task_type)) is not None or await self._has(site, task_type, key):
                await self._leftovers.remove(resources or site.resources(task_type, self._rules[task_type]), key)

    async def _has(self, site: Site, task_type: str, key: AttemptKey) -> bool:
        """Whether an engine before this one has left a resource of the attempt."""
        return await site.resources(task_type, self._rules[task_type]).read(pod_name(key)) is not None

    async def printed(self, key: AttemptKey) -> AsyncGenerator[bytes, None]:
        """What an attempt has printed up to now whose pod is there. Raises Transient."""
        site = self.sites.known(key.execution)
        pod = site.pods.informer.pods.get(pod_name(key)) if site else None
        if site is None or pod is None or pod.key != key:
            return
        async with aclosing(printed(site.pods.cluster, site.pods.informer.path, pod)) as pieces:
            async for piece in pieces:
                yield piece

    def trouble(self) -> str:
        """Which clusters have not been reached since the start, and why; empty: all have."""
        return self._clusters.trouble

    def silence_seconds(self) -> float:
        """Since the quietest watch had its last sign of life; 0 where nothing is watched."""
        heard = [objects.informer.heard_at for objects in self.sites.objects()]
        return anyio.current_time() - min(heard) if heard else 0.0

    def watched(self) -> int:
        return sum(len(objects.informer.pods) for objects in self.sites.objects())

    def left(self) -> list[AttemptKey]:
        """Attempts that have a pod and that nobody waits for. Some may be another engine's of the group."""
        things = [thing for objects in self.sites.objects() for thing in objects.informer.pods.values()]
        keys = [thing.key for thing in things if not thing.leaving or thing.held]
        return [key for key in keys if key is not None and key not in self._attempts]

    def done_with(self, keys: Iterable[AttemptKey]) -> None:
        """These attempts are over for good: their pods go, those that have ended once they were kept for their time."""
        now, names = self._now(), {pod_name(key): key for key in keys}
        for objects in self.sites.objects():
            for name in names.keys() & objects.informer.pods.keys():
                thing, key = objects.informer.pods[name], names[name]
                if thing.key != key or key in self._attempts:
                    continue
                if thing.leaving and thing.held:
                    self._tasks.start_soon(objects.let_go, thing)
                elif removable(thing, now, self._options):
                    self._leftovers.remove_soon(objects, key)

    async def _perform(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        key = request.key
        self._leftovers.spare(key)
        tell = partial(self.notes.tell, key, request.prefix_uri)
        site = await self._site(key, tell)
        if self._sources is not None:
            argv = await self._sources.fetched(request.argv, request.code_root)
            request = structs.replace(request, argv=argv)
        rule = self._rules.get(request.task.type)
        if rule is None:
            return await self._as_pod(site, request, started, tell)
        return await self._as_resource(site, request, rule, started, tell)

    async def _as_pod(self, site: Site, request: TaskRequest, started: Callable[[], None], tell: Tell) -> Exit:
        architecture = request.placement.architecture or ""
        patience = Patience(self._cluster.trouble_seconds)

        async def make() -> Json:
            return pod_of(request, self._cluster.group, self._options, await self._template(site, request, patience))

        def judge(pod: Pod) -> State:
            return state_of(pod, self._now(), self._options, architecture)

        self._leftovers.doom_before(site.pods, request.key)
        watching = Watching(site.pods, request, judge, self._now, started)
        attempting = Attempting(site.pods, request, make, partial(self._finish, site.pods, request), patience)
        return await attempting.run(watching, tell)

    async def _as_resource(
        self, site: Site, request: TaskRequest, rule: Rule, started: Callable[[], None], tell: Tell
    ) -> Exit:
        resources, patience = site.resources(request.task.type, rule), Patience(self._cluster.trouble_seconds)
        await ready(resources, tell)

        async def make() -> Json:
            template = await self._template(site, request, patience)
            return custom.resource_of(request, rule, self._cluster.group, self._options, template, site.pods.namespace)

        async def ended(resource: Resource, exit: Exit) -> Exit:
            await resources.let_go(resource)
            if exit.well:
                await resources.remove(request.key)
            return exit

        self._leftovers.doom_before(resources, request.key)
        watching = Watching(resources, request, partial(custom.state_of, rule=rule), self._now, started)
        attempting = Attempting(resources, request, make, ended, patience)
        return await attempting.run(watching, tell)

    async def _site(self, key: AttemptKey, tell: Tell) -> Site:
        """Raises Permanent where pods can't be watched there at all."""
        site = self.sites.of(key.execution)
        await ready(site.pods, tell)
        return site

    async def _template(self, site: Site, request: TaskRequest, patience: Patience) -> Json | None:
        name = request.pod.pod_template or self._options.template_name
        return await self._templates.find(site.pods, name, patience)

    async def _finish(self, pods: Pods, request: TaskRequest, pod: Pod, exit: Exit) -> Exit:
        """Of an attempt that is over: what it printed is kept, and what runs beside it is ended."""
        await self._logs.keep(pods, pod, request.prefix_uri)
        await pods.let_go(pod)
        if not pod.over:
            await pods.remove(request.key)
        return exit if exit.well else self._linked(exit, pod, request)

    def _linked(self, ended: Exit, pod: Pod, request: TaskRequest) -> Exit:
        """A failure says where the logs are."""
        found = links(self._options.log_links, pod, request)
        lines = [ended.message, *(f"{name}: {uri}" for name, uri in found.items())]
        return structs.replace(ended, message="\n".join(lines))


def _silent(why: str) -> None:
    """Nobody waits for it."""
