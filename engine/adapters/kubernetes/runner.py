"""PodRunner: attempts as pods. They outlive the engine: the next owner of an execution finds them by their names."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Self

import anyio
from msgspec import structs

from engine.adapters.attempts import Attempts
from engine.adapters.kubernetes.carrying import NO_IMAGE
from engine.adapters.kubernetes.classify import on_read
from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.keeping import removable
from engine.adapters.kubernetes.links import links
from engine.adapters.kubernetes.logs import LogKeeper, Put
from engine.adapters.kubernetes.naming import Json, pod_name
from engine.adapters.kubernetes.notes import Notes
from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.pods import Pods
from engine.adapters.kubernetes.podtemplates import PodTemplates
from engine.adapters.kubernetes.sites import Sites
from engine.adapters.kubernetes.spec import pod_of
from engine.adapters.kubernetes.status import Pod
from engine.adapters.kubernetes.watching import Watching
from engine.model.errors import BadInput, ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

log = logging.getLogger(__name__)

CLEANUP_SECONDS = 30.0
MOST_DOOMED = 10_000


class PodRunner:
    """A TaskRunner. Enter it (`async with`) before use; when the block ends its pods go on.

    `max_pods`: attempts at once; None = any number. `put`: keeps what pods print, `log_limit` bytes of each.
    """

    def __init__(
        self,
        cluster: ClusterOptions,
        pods: PodOptions,
        *,
        put: Put,
        max_pods: int | None = None,
        log_limit: int = 10 * 2**20,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._cluster, self._options, self._now = cluster, pods, now
        self._attempts = Attempts(max_pods, outlive=True)
        self._logs = LogKeeper(put, log_limit, at_once=8)
        self._templates = PodTemplates()
        self._exits = AsyncExitStack()
        self._doomed: OrderedDict[AttemptKey, None] = OrderedDict()
        """The last attempts that are over for good, whose pods may still turn up."""
        self._removing: set[AttemptKey] = set()
        self.notes = Notes(put)

    async def __aenter__(self) -> Self:
        connections = await self._exits.enter_async_context(AsyncExitStack())
        self._tasks = await self._exits.enter_async_context(anyio.create_task_group())
        options, stop_seconds = self._cluster, self._options.stop_seconds
        self._tasks.start_soon(self.notes.run)
        self.sites = Sites(self._tasks, connections, options, stop_seconds, self._seen)
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
        self._doom(key)
        await self._attempts.stop(key)
        await self._remove(await self._site(key), key)

    def left(self) -> list[AttemptKey]:
        """Attempts that have a pod and that nobody waits for. Some may be another engine's of the group."""
        keys = [pod.key for pods in self.sites for pod in pods.informer.pods.values() if not pod.leaving]
        return [key for key in keys if key is not None and key not in self._attempts]

    def done_with(self, keys: Iterable[AttemptKey]) -> None:
        """These attempts are over for good: their pods go, those that have ended once they were kept for their time."""
        now, names = self._now(), {pod_name(key): key for key in keys}
        for pods in self.sites:
            for name in names.keys() & pods.informer.pods.keys():
                pod, key = pods.informer.pods[name], names[name]
                if pod.key == key and removable(pod, now, self._options) and key not in self._attempts:
                    self._remove_soon(pods, key)

    async def _perform(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        key = request.key
        self._doomed.pop(key, None)
        tell = partial(self.notes.tell, key, request.prefix_uri)
        pods = await self._site(key)
        pod = await self._known(pods, request)
        if pod is None:
            if request.begun:
                return Exit(ExitReason.LOST, 0, "its pod is gone, and nobody has seen how it ended")
            manifest = await self._manifest(pods, request)
            pod = await pods.ensure(key, request.root or key, manifest, tell)
        # Nothing is awaited in between, so no change is missed.
        with pods.informer.follow(pod.name) as seen:
            self._leave_behind(pods, key)
            ended = await Watching(pods, request, self._options, self._now, started).end(seen, pod, tell)
            last = seen.pod or pod
            await self._finish(pods, request, last, gone=seen.gone)
            return ended if ended.well else self._linked(ended, last, request)

    async def _known(self, pods: Pods, request: TaskRequest) -> Pod | None:
        """The attempt's pod, where it is watched already. One that is leaving counts only if the task had begun."""
        name = pod_name(request.key)
        pod = pods.informer.pods.get(name)
        if pod is not None and pod.key == request.key:
            return pod if request.begun or not pod.leaving else None
        if request.begun and (other := await pods.read(name)) is not None:
            # Made a moment ago by an engine before this one, or by another group: the name says whose it is.
            return pods.adopted(other, request.key)
        return None

    async def _site(self, key: AttemptKey) -> Pods:
        """Raises Permanent where its cluster can't be used at all."""
        try:
            pods = await self.sites.of(key.execution)
            await pods.informer.ready()
        except BadInput as problem:
            raise Permanent(Failure("RuntimeFailure", ErrorKind.SYSTEM, str(problem))) from problem
        except CallFailed as problem:
            failure = on_read(problem.answer).failure
            assert failure is not None
            message = f"pods of namespace {self.sites.namespace(key.execution)} can't be watched: {failure.message}"
            raise Permanent(structs.replace(failure, message=message)) from problem
        return pods

    async def _manifest(self, pods: Pods, request: TaskRequest) -> Json:
        template = await self._templates.find(pods, request.pod.pod_template or self._options.template_name)
        return pod_of(request, self._cluster.group, self._options, template)

    async def _finish(self, pods: Pods, request: TaskRequest, pod: Pod, *, gone: bool) -> None:
        """Of an attempt that is over: what it printed is kept, and what runs beside it is ended."""
        if gone:
            return
        await self._logs.keep(pods, pod, request.prefix_uri)
        await pods.let_go(pod)
        if not pod.over:
            await pods.remove(request.key)

    def _linked(self, ended: Exit, pod: Pod, request: TaskRequest) -> Exit:
        """A failure says where the logs are."""
        found = links(self._options.log_links, pod, request)
        lines = [ended.message, *(f"{name}: {uri}" for name, uri in found.items())]
        return structs.replace(ended, message="\n".join(lines))

    def _leave_behind(self, pods: Pods, key: AttemptKey) -> None:
        """The pod of the attempt before this one is of no use any more."""
        if key.attempt:
            before = structs.replace(key, attempt=key.attempt - 1)
            self._doom(before)
            if pod_name(before) in pods.informer.pods:
                self._remove_soon(pods, before)

    def _doom(self, key: AttemptKey) -> None:
        self._doomed[key] = None
        if len(self._doomed) > MOST_DOOMED:
            self._doomed.popitem(last=False)

    def _seen(self, pods: Pods, pod: Pod) -> None:
        """A pod is new or has changed. One that should be gone is not believed, it is deleted."""
        if pod.over or pod.leaving:
            pods.quota.freed()
        key = pod.key
        if key is not None and key in self._doomed and not pod.leaving and key not in self._attempts:
            self._remove_soon(pods, key)

    def _remove_soon(self, pods: Pods, key: AttemptKey) -> None:
        if key not in self._removing:
            self._removing.add(key)
            self._tasks.start_soon(self._try_to_remove, pods, key)

    async def _try_to_remove(self, pods: Pods, key: AttemptKey) -> None:
        try:
            await self._remove(pods, key)
        except Permanent as problem:
            log.warning("a pod can't be deleted", extra={"attempt": str(key), "cause": str(problem)})

    async def _remove(self, pods: Pods, key: AttemptKey) -> None:
        self._removing.add(key)
        try:
            again = True
            while again:
                await pods.remove(key)
                pod = pods.informer.pods.get(pod_name(key))
                again = pod is not None and not (pod.leaving or pod.over or key in self._attempts)
        finally:
            self._removing.discard(key)
