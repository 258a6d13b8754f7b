"""PodTemplates of the cluster, looked up by name and kept for some seconds."""

from __future__ import annotations

import anyio
import msgspec
from anyio import to_thread

from engine.adapters.kubernetes.access import own_namespace
from engine.adapters.kubernetes.classify import Do, on_read
from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.naming import Json
from engine.adapters.kubernetes.patience import Patience
from engine.adapters.kubernetes.pods import Pods
from engine.model.errors import ErrorKind, Failure, Permanent

KEPT_SECONDS = 30.0
"""Flyte's own time between looks."""


class PodTemplates:
    def __init__(self) -> None:
        self._kept: dict[tuple[int, str, str], tuple[float, bytes | None]] = {}

    async def find(self, pods: Pods, name: str, patience: Patience) -> Json | None:
        """Its `template`; None for no name. First in the namespace of the pods, then in the engine's own.

        Raises Permanent (USER) where there is none of that name, GivenUp.
        """
        if not name:
            return None
        for namespace in dict.fromkeys((pods.namespace, await to_thread.run_sync(own_namespace))):
            found = await self._read(pods, namespace, name, patience)
            if found is not None:
                template: Json = msgspec.json.decode(found).get("template", {})
                return template
        message = f"there is no PodTemplate {name!r} in namespace {pods.namespace}; nothing was started"
        raise Permanent(Failure("BadTaskSpecification", ErrorKind.USER, message))

    async def _read(self, pods: Pods, namespace: str, name: str, patience: Patience) -> bytes | None:
        place = id(pods.cluster), namespace, name
        until, found = self._kept.get(place, (0.0, None))
        if anyio.current_time() >= until:
            found = await self._ask(pods, f"/api/v1/namespaces/{namespace}/podtemplates/{name}", patience)
            self._kept[place] = anyio.current_time() + KEPT_SECONDS, found
        return found

    async def _ask(self, pods: Pods, path: str, patience: Patience) -> bytes | None:
        while True:
            try:
                return await pods.cluster.get(path)
            except CallFailed as problem:
                ruling = on_read(problem.answer)
                if ruling.do is Do.GONE:
                    return None
                if ruling.failure is not None:
                    raise Permanent(ruling.failure) from problem
                await patience.wait(problem, ruling.after_seconds)
