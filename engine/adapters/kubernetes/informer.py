"""What an engine knows of its pods in one namespace: a list, then a watch from there, again and again.

Events only make it quicker: whatever is in doubt (an expired position, silence, a stream that was cut) ends in a list,
and so does every `resync_seconds`. A pod that is missing in a list is gone.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Generic, TypeVar

import anyio
import msgspec
from anyio.abc import TaskStatus
from msgspec import Struct

from engine.adapters.kubernetes.classify import Answer, Do, on_list
from engine.adapters.kubernetes.cluster import CallFailed, Cluster, decoded, lines
from engine.adapters.kubernetes.naming import GROUP
from engine.adapters.kubernetes.status import Page, Thing

log = logging.getLogger(__name__)

T = TypeVar("T", bound=Thing)
PAGE = 500
FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0
"""Seconds between lists that follow one another at once."""
SHORT = 1.0
"""Seconds; a server that ends streams sooner than that is not asked for the next one at once."""
_GONE = 410


class _Kind(Struct):
    type: str


class _Event(Struct):
    object: msgspec.Raw


class _Trouble(Struct):
    class Object(Struct):
        code: int = 0
        reason: str = ""
        message: str = ""

    object: Object


class Followed(Generic[T]):
    """One object, by its name, as somebody follows it."""

    def __init__(self, now: T | None) -> None:
        self.now = now
        """As it was seen last."""
        self.gone = False
        """It was there, and is no more."""
        self._changed = asyncio.Event()

    def tell(self, now: T | None, *, gone: bool) -> None:
        self.now, self.gone = now or self.now, gone
        self._changed.set()

    async def change(self) -> None:
        """Returns at once where something has changed since the last call."""
        await self._changed.wait()
        self._changed.clear()


class Informer(Generic[T]):
    def __init__(
        self,
        cluster: Cluster,
        path: str,
        kind: type[T],
        group: str,
        *,
        idle_seconds: float = 60.0,
        resync_seconds: float = 300.0,
        told: Callable[[T], None],
    ) -> None:
        """`path`: of the collection. `told`: of every object that is new or has changed."""
        self._cluster, self.path, self.kind = cluster, path, kind
        self.group = group
        self._idle, self._resync, self._told = idle_seconds, resync_seconds, told
        self._selector = {"labelSelector": f"{GROUP}={group}"}
        self.pods: dict[str, T] = {}
        self._followed: defaultdict[str, set[Followed[T]]] = defaultdict(set)
        self._noted: set[str] | None = None
        """Names of what was created while a list is on its way, which may not know of it."""
        self._listed, self._settled = asyncio.Event(), asyncio.Event()
        self.refusal: Answer | None = None
        """Why the first list was refused for good."""
        self.trouble = ""
        """Why there is no first list yet."""
        self.heard_at = asyncio.get_running_loop().time()
        """Loop time of the last sign of life of the API server."""

    async def ready(self, tell: Callable[[str], None]) -> None:
        """Wait for the first list, and `tell` what stands in its way. Raises CallFailed where the server refuses to
        give one."""
        while not self._listed.is_set():
            if self.refusal is not None:
                raise CallFailed(self.refusal)
            if self.trouble:
                tell(self.trouble)
            await self._settled.wait()

    @contextmanager
    def follow(self, name: str) -> Iterator[Followed[T]]:
        followed = Followed[T](self.pods.get(name))
        self._followed[name].add(followed)
        try:
            yield followed
        finally:
            self._followed[name].discard(followed)
            if not self._followed[name]:
                del self._followed[name]

    def note(self, pod: T) -> None:
        """An answer of the server has told of a pod, perhaps before the watch does."""
        known = self.pods.get(pod.name)
        if known is None or known.uid != pod.uid:
            self._set(pod)
        if self._noted is not None:
            self._noted.add(pod.name)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """For ever."""
        task_status.started()
        wait = FIRST_WAIT
        while True:
            began = asyncio.get_running_loop().time()
            try:
                version = await self._list()
                await self._watch(version, began + self._resync)
            except CallFailed as trouble:
                self._learn(trouble)
                log.info("pods are listed anew", extra={"path": self.path, "cause": str(trouble), "wait": wait})
            lasted = asyncio.get_running_loop().time() - began
            if lasted >= self._resync:
                wait = FIRST_WAIT
                continue
            wait = FIRST_WAIT if lasted > LONGEST_WAIT else wait
            await anyio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _learn(self, trouble: CallFailed) -> None:
        if self._listed.is_set():
            return
        self.trouble = str(trouble)
        if on_list(trouble.answer).do is Do.GIVE_UP:
            self.refusal = trouble.answer
        self._settle()

    def _settle(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()

    async def _list(self) -> str:
        """All pods; the version from which a watch goes on."""
        found: dict[str, T] = {}
        self._noted, more, version = set(), "", ""
        try:
            while True:
                params = {**self._selector, "limit": str(PAGE), **({"continue": more} if more else {})}
                page = decoded(await self._cluster.get(self.path, params), Page)
                pods = [decoded(item, self.kind) for item in page.items or ()]
                found.update({pod.name: pod for pod in pods})
                more, version = page.metadata.continue_token, page.metadata.resource_version
                if not more:
                    break
            self._replace(found, self._noted)
        finally:
            self._noted = None
        self._heard()
        self.refusal = None
        self._listed.set()
        self._settle()
        return version

    def _replace(self, found: dict[str, T], noted: set[str]) -> None:
        for name in [name for name in self.pods if name not in found and name not in noted]:
            self._drop(name, None)
        for pod in found.values():
            known = self.pods.get(pod.name)
            if known is None or known.metadata.resource_version != pod.metadata.resource_version:
                self._set(pod)

    def _set(self, pod: T) -> None:
        known = self.pods.get(pod.name)
        if known is not None and known.uid != pod.uid:
            self._drop(pod.name, None)
        self.pods[pod.name] = pod
        for followed in self._followed.get(pod.name, ()):
            if not followed.gone:
                followed.tell(pod, gone=False)
        self._told(pod)

    def _drop(self, name: str, last: T | None) -> None:
        """`last`: what the pod was at its end, if somebody knows."""
        self.pods.pop(name, None)
        for followed in self._followed.get(name, ()):
            followed.tell(last, gone=True)

    async def _watch(self, version: str, until: float) -> None:
        """Until `until` (loop time). Raises CallFailed where only a list can help."""
        while (left := until - asyncio.get_running_loop().time()) > 0:
            # The server ends the stream before the silence could be taken for a dead one.
            seconds = max(1, int(min(left, self._idle * 0.8)))
            params = {
                **self._selector,
                "watch": "1",
                "allowWatchBookmarks": "true",
                "resourceVersion": version,
                "timeoutSeconds": str(seconds),
            }
            began, opened = version, asyncio.get_running_loop().time()
            try:
                async with (
                    self._cluster.chunks(self.path, params, self._idle) as chunks,
                    aclosing(lines(chunks)) as all,
                ):
                    self._heard()
                    async for line in all:
                        version = self._take(line) or version
                if asyncio.get_running_loop().time() - opened < SHORT:
                    await anyio.sleep(SHORT)
            except CallFailed as trouble:
                if trouble.answer.status or version == began:
                    raise
                log.info("a watch of pods was cut", extra={"path": self.path, "cause": str(trouble)})

    def _take(self, line: bytes) -> str:
        """The version after one event. Raises CallFailed for an ERROR, and for what is no event."""
        self._heard()
        kind = decoded(line, _Kind).type
        if kind == "ERROR":
            trouble = decoded(line, _Trouble).object
            raise CallFailed(Answer(trouble.code or _GONE, trouble.reason, trouble.message))
        pod = decoded(decoded(line, _Event).object, self.kind)
        if kind == "DELETED":
            self._removed(pod)
        elif kind in ("ADDED", "MODIFIED"):
            self._set(pod)
        return pod.metadata.resource_version

    def _removed(self, pod: T) -> None:
        known = self.pods.get(pod.name)
        if known is None or known.uid == pod.uid:
            self._drop(pod.name, pod)

    def _heard(self) -> None:
        self.heard_at = asyncio.get_running_loop().time()
