"""The pods of one namespace, or what stands for them: made once, found again, deleted until they are gone."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Generic

import anyio
from msgspec import structs

from engine.adapters.kubernetes.classify import Do, Ruling, on_create, on_delete, on_read
from engine.adapters.kubernetes.cluster import CallFailed, Cluster, decoded
from engine.adapters.kubernetes.informer import Followed, Informer, T
from engine.adapters.kubernetes.naming import FINALIZER, Json, pod_name
from engine.adapters.kubernetes.patience import GivenUp, Patience
from engine.adapters.kubernetes.quota import Quota
from engine.adapters.kubernetes.status import Pod
from engine.adapters.slots import Slots
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.ids import AttemptKey

log = logging.getLogger(__name__)
MOST_UNSURE = 10_000
LOOK_SECONDS = 5.0
"""Between looks at a pod that another group of engines may have made, of which no watch tells."""
Tell = Callable[[str], None]
"""Takes what an attempt waits for, in words; empty = nothing any more."""


class Objects(Generic[T]):
    def __init__(
        self, cluster: Cluster, namespace: str, informer: Informer[T], creating: Slots, stop_seconds: float
    ) -> None:
        self.cluster, self.namespace, self.informer = cluster, namespace, informer
        self._path, self._creating, self.stop_seconds = informer.path, creating, stop_seconds
        self._group, self._kind = informer.group, informer.kind
        self.quota = Quota()
        self._unsure: deque[AttemptKey] = deque(maxlen=MOST_UNSURE)
        """Attempts that were given up while their pods may have been made."""
        self._strict = {"fieldValidation": "Strict"} if self._kind is Pod else {}
        """A field of a pod that the server does not know would be dropped without a word. (What a custom resource may
        have, its operator's schema often does not say.)"""

    async def ensure(self, key: AttemptKey, turn: AttemptKey, manifest: Json, tell: Tell, patience: Patience) -> T:
        """The pod of an attempt: the one that is there with the same key, or a new one.

        Raises Permanent for what no other try would change, GivenUp.
        """
        while True:
            try:
                made = await self._create(turn, manifest)
            except CallFailed as problem:
                ruling = on_create(problem.answer)
                tell(f"its pod to be made: {problem}")
                try:
                    found = await self._instead(key, ruling, problem, patience)
                except GivenUp:
                    self._unsure.append(key)
                    raise
                if found is None:
                    continue
                made = found
            tell("")
            self.informer.note(made)
            return made

    async def make_sure(self, key: AttemptKey, patience: Patience) -> None:
        """No pod is there of an earlier attempt that was given up: two would run at once. Raises Permanent, GivenUp."""
        for it in [it for it in self._unsure if structs.replace(it, attempt=key.attempt) == key and it != key]:
            await self.remove(it, patience)
            self._unsure.remove(it)

    async def _create(self, turn: AttemptKey, manifest: Json) -> T:
        """A call that is on its way is not given up: nobody would know of the pod. Raises CallFailed."""
        while True:
            async with self.quota.asking(turn) as alone, self._creating.one(turn):
                if alone or not self.quota.short:
                    return await self._post(manifest)

    async def _post(self, manifest: Json) -> T:
        try:
            with anyio.CancelScope(shield=True):
                made = decoded(await self.cluster.post(self._path, manifest, self._strict), self._kind)
                self.informer.note(made)
        except CallFailed as problem:
            if on_create(problem.answer).do is Do.WAIT:
                self.quota.full()
            raise
        self.quota.fits()
        await anyio.lowlevel.checkpoint_if_cancelled()
        return made

    async def _instead(self, key: AttemptKey, ruling: Ruling, problem: CallFailed, patience: Patience) -> T | None:
        """What to take in place of a pod that was not made; None: try again."""
        match ruling.do:
            case Do.LOOK:
                return await self._found(key, patience)
            case Do.GIVE_UP:
                assert ruling.failure is not None
                raise Permanent(ruling.failure)
            case Do.AGAIN:
                log.info("a pod can't be made yet", extra={"attempt": str(key), "cause": str(problem)})
                await patience.wait(problem, ruling.after_seconds)
            case _:
                patience.answered()
        return None

    async def _found(self, key: AttemptKey, patience: Patience) -> T | None:
        """The pod that stands under the name of an attempt, if it is that attempt's; else None, once it is gone."""
        patience.answered()
        pod = await self.read(pod_name(key), patience)
        if pod is None:
            return None
        if pod.key is None:
            raise self._in_the_way(pod, "it belongs to nobody here, so it is left alone")
        if pod.key == key and not pod.leaving:
            return self.adopted(pod, key)
        with self.informer.follow(pod.name) as seen, anyio.move_on_after(2 * self.stop_seconds):
            while pod is not None:
                with anyio.move_on_after(LOOK_SECONDS):
                    await self._gone(seen, pod)
                    return None
                now = await self.read(pod.name, patience)
                if now is None or now.uid != pod.uid:
                    return None
        raise self._in_the_way(pod, f"it is of attempt {pod.key} and does not go")

    def adopted(self, pod: T, key: AttemptKey) -> T:
        """A pod that was found by its name, from now on watched. Raises Permanent where another group has made it."""
        group = pod.metadata.labels.group
        if pod.key != key or group != self._group:
            raise self._in_the_way(pod, f"it belongs to group {group!r} of engines, attempt {pod.key}")
        self.informer.note(pod)
        return pod

    def _in_the_way(self, pod: T, why: str) -> Permanent:
        message = f"{self.namespace}/{pod.name}, whose name this attempt needs, is there: {why}"
        return Permanent(Failure("RuntimeFailure", ErrorKind.SYSTEM, message))

    async def read(self, name: str, patience: Patience | None = None) -> T | None:
        """As it is now; None: there is none. Raises Permanent where the server will not say, GivenUp."""
        patience = patience or Patience()
        while True:
            try:
                return decoded(await self.cluster.get(f"{self._path}/{name}"), self._kind)
            except CallFailed as problem:
                ruling = on_read(problem.answer)
                if ruling.do is Do.GONE:
                    return None
                await self._wait(ruling, problem, patience)

    async def _wait(self, ruling: Ruling, problem: CallFailed, patience: Patience) -> None:
        if ruling.failure is not None:
            raise Permanent(ruling.failure) from problem
        await patience.wait(problem, ruling.after_seconds)

    async def remove(self, key: AttemptKey, patience: Patience | None = None) -> None:
        """Delete the pod of an attempt and return when nothing of it runs. Another's pod of that name is left alone."""
        name, patience = pod_name(key), patience or Patience()
        with self.informer.follow(name) as seen:
            pod = seen.now or await self.read(name, patience)
            if pod is not None and pod.key == key:
                await self.delete(pod, seen, patience)

    async def delete(self, pod: T, seen: Followed[T], patience: Patience | None = None) -> None:
        """Until it is gone, or over and only held up by others: after `stop_seconds` it is deleted by force."""
        patience = patience or Patience()
        # A pod with uploads has a long time to end in order; here it need not.
        long = pod.grace_seconds > self.stop_seconds
        grace: Json = {"gracePeriodSeconds": max(1, int(self.stop_seconds / 2))} if long else {}
        while not await self._asked(pod, grace, patience):
            with anyio.move_on_after(self.stop_seconds):
                await self._gone(seen, pod)
                return
            now = await self.read(pod.name, patience)
            if now is None or now.uid != pod.uid or now.over:
                return
            grace = {"gracePeriodSeconds": 0}
            extra = {"pod": f"{self.namespace}/{pod.name}", "seconds": self.stop_seconds}
            log.warning("a pod does not end, it is deleted by force", extra=extra)

    async def _asked(self, pod: T, grace: Json, patience: Patience) -> bool:
        """Ask for its end. True: it is gone already."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": pod.uid}, **grace}
        while True:
            try:
                await self.cluster.delete(f"{self._path}/{pod.name}", body)
                return False
            except CallFailed as problem:
                ruling = on_delete(problem.answer)
                if ruling.do is Do.GONE:
                    return True
                await self._wait(ruling, problem, patience)

    async def _gone(self, seen: Followed[T], pod: T) -> None:
        """Wait until it is gone. What it was held for is over: its finalizer goes once nothing of it runs."""
        while not seen.gone and (seen.now is None or seen.now.uid == pod.uid):
            if seen.now is not None and seen.now.held and seen.now.leaving:
                await self.let_go(seen.now)
            await seen.change()

    async def let_go(self, pod: T) -> None:
        """Take the engine's finalizer off."""
        if not pod.held:
            return
        left = [it for it in pod.metadata.finalizers if it != FINALIZER]
        version = pod.metadata.resource_version
        body = {"metadata": {"finalizers": left or None, "uid": pod.uid, "resourceVersion": version}}
        try:
            await self.cluster.patch(f"{self._path}/{pod.name}", body)
        except CallFailed as problem:
            # A newer state of the pod comes by the watch, and then this is tried again.
            extra = {"pod": f"{self.namespace}/{pod.name}", "cause": str(problem)}
            log.info("a finalizer is not off yet", extra=extra)


Pods = Objects[Pod]
