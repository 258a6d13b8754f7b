"""Keeps what the containers of a pod printed, beside the attempt's outputs: head and tail, in bounded memory."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import anyio

from engine.adapters.kubernetes.cluster import CallFailed, Cluster
from engine.adapters.kubernetes.pods import Pods
from engine.adapters.kubernetes.status import Pod
from engine.model.errors import EngineError, Transient

log = logging.getLogger(__name__)

Put = Callable[[str, bytes], Awaitable[None]]
"""Stores an object at a URI, as BlobStore.put does."""
IDLE_SECONDS, MOST_SECONDS = 10.0, 60.0
_NOTHING_YET = (400, 404)
"""A container that waits to start; a pod that is gone."""


class Kept:
    """The first and the last bytes of a stream, `limit` of them together."""

    def __init__(self, limit: int) -> None:
        self._head_size = limit // 2
        self._tail_size = limit - self._head_size
        self._head, self._tail = bytearray(), deque[bytes]()
        self._in_tail = self._cut = 0

    def write(self, data: bytes) -> None:
        room = self._head_size - len(self._head)
        self._head += data[:room]
        if not (rest := data[room:]):
            return
        self._tail.append(rest)
        self._in_tail += len(rest)
        while self._in_tail > self._tail_size:
            first = self._tail.popleft()
            surplus = min(self._in_tail - self._tail_size, len(first))
            if surplus < len(first):
                self._tail.appendleft(first[surplus:])
            self._in_tail -= surplus
            self._cut += surplus

    def whole(self) -> bytes:
        mark = f"\n[... {self._cut} bytes cut here ...]\n".encode() if self._cut else b""
        return b"".join((self._head, mark, *self._tail))


def printing(cluster: Cluster, path: str, pod: Pod) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
    """What the task's container has printed up to now. `path`: of the namespace's pods. Raises CallFailed."""
    params = {"container": pod.metadata.annotations.primary}
    return cluster.chunks(f"{path}/{pod.name}/log", params, IDLE_SECONDS)


async def printed(cluster: Cluster, path: str, pod: Pod) -> AsyncGenerator[bytes, None]:
    """The same; nothing of a container that has not begun or is gone. Raises Transient."""
    try:
        async with printing(cluster, path, pod) as chunks:
            async for chunk in chunks:
                yield chunk
    except CallFailed as problem:
        if problem.answer.status not in _NOTHING_YET:
            raise Transient(f"what pod {pod.name} has printed can't be read: {problem}") from problem


class LogKeeper:
    """`limit`: bytes of one attempt. Whatever goes wrong is a line of the engine's own log, never of the attempt."""

    def __init__(self, put: Put, limit: int, at_once: int) -> None:
        self._put, self._limit, self._turns = put, limit, anyio.CapacityLimiter(at_once)

    async def keep(self, pods: Pods, pod: Pod, prefix_uri: str) -> None:
        """What the task's container printed, both streams in one, as `stdout.log`."""
        problem = "it took too long"
        with anyio.move_on_after(MOST_SECONDS):
            async with self._turns:
                problem = await self._kept(pods, pod, prefix_uri)
        if problem:
            extra = {"pod": f"{pods.namespace}/{pod.name}", "cause": problem}
            log.warning("what a task printed could not be kept", extra=extra)

    async def _kept(self, pods: Pods, pod: Pod, prefix_uri: str) -> str:
        kept = Kept(self._limit)
        try:
            async with printing(pods.cluster, pods.informer.path, pod) as chunks:
                async for chunk in chunks:
                    kept.write(chunk)
            await self._put(f"{prefix_uri}/stdout.log", kept.whole())
        except (CallFailed, EngineError) as problem:
            return str(problem)
        return ""
