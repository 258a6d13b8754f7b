"""A kubelet for tests: `python -m tests.backing.kubernetes.kubelet KUBECONFIG` serves all nodes with the test's label.

It runs the pods that the scheduler binds to them as local processes, or plays those that carry a script, and writes
their status as a kubelet does. Volumes, probes, restarts and networks are not there. It does not outlive a crash: its
pods are its own children.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import anyio
import msgspec
from anyio.abc import TaskGroup

from tests.backing.kubernetes.api import Api, ApiError, Document, Event, connect
from tests.backing.kubernetes.life import RETRY_SECONDS, Life
from tests.backing.kubernetes.logs import serving_logs
from tests.backing.kubernetes.nodes import BROKEN, USUAL, make_ready, renew_lease
from tests.backing.kubernetes.specs import NODE_LABEL, Pod

LEASE_SECONDS = 10.0
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"


class Kubelet:
    def __init__(self, api: Api, group: TaskGroup, folder: Path, port: int) -> None:
        self._api, self._group, self._folder, self._port = api, group, folder, port
        self._nodes: dict[str, tuple[str, bool]] = {}
        """Name -> architecture, and whether it is broken on purpose."""
        self._lives: dict[str, Life] = {}
        """By the pods' uids."""

    async def run(self) -> None:
        for each in USUAL:
            try:
                await self._api.create(NODES, each)
            except ApiError as error:
                if error.status != 409:
                    raise
        self._group.start_soon(self._renew_leases)
        self._group.start_soon(self._follow, NODES, {"labelSelector": NODE_LABEL}, self._see_nodes, self._see_node)
        await self._follow(PODS, {"fieldSelector": "spec.nodeName!="}, self._see_pods, self._see_pod)

    async def _follow(
        self,
        path: str,
        query: dict[str, str],
        see_all: Callable[[list[msgspec.Raw]], Awaitable[None]],
        see: Callable[[Event], Awaitable[None]],
    ) -> None:
        """A list, then a watch from there; again after each end, whatever it was."""
        while True:
            try:
                found = await self._api.list(path, **query)
                await see_all(found.items)
                version = str(found.metadata["resourceVersion"])
                async for event in self._api.watch(path, resourceVersion=version, **query):
                    if event.type == "ERROR":
                        break
                    if event.type != "BOOKMARK":
                        await see(event)
            except (aiohttp.ClientError, ApiError, TimeoutError):
                await anyio.sleep(RETRY_SECONDS)

    async def _see_nodes(self, found: list[msgspec.Raw]) -> None:
        for each in found:
            await self._see_node(Event("ADDED", each))

    async def _see_node(self, event: Event) -> None:
        found = msgspec.json.decode(event.object, type=Document)
        meta = found["metadata"]
        now = (meta["labels"]["kubernetes.io/arch"], BROKEN in meta.get("annotations", {}))
        if event.type == "DELETED":
            self._nodes.pop(meta["name"], None)
        elif self._nodes.get(meta["name"]) != now:
            self._nodes[meta["name"]] = now
            await make_ready(self._api, found, self._port)
            await renew_lease(self._api, meta["name"])

    async def _renew_leases(self) -> None:
        while True:
            await anyio.sleep(LEASE_SECONDS)
            for name in list(self._nodes):
                try:
                    await renew_lease(self._api, name)
                except (aiohttp.ClientError, ApiError, TimeoutError):
                    """The next time, then."""

    async def _see_pods(self, found: list[msgspec.Raw]) -> None:
        pods = [msgspec.json.decode(each, type=Pod) for each in found]
        for uid in self._lives.keys() - {pod.metadata.uid for pod in pods}:
            self._lives[uid].gone()
        for pod in pods:
            self._see(pod)

    async def _see_pod(self, event: Event) -> None:
        pod = msgspec.json.decode(event.object, type=Pod)
        if event.type != "DELETED":
            self._see(pod)
        elif life := self._lives.get(pod.metadata.uid):
            life.gone()

    def _see(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        node = self._nodes.get(pod.spec.node_name)
        if node and uid not in self._lives:
            folder = self._folder / pod.metadata.namespace / pod.metadata.name
            self._lives[uid] = Life(self._api, pod, node[0], folder)
            self._group.start_soon(self._live, uid)
        if pod.metadata.deletion_timestamp and uid in self._lives:
            self._lives[uid].delete(pod.metadata.deletion_grace_period_seconds or 0)

    async def _live(self, uid: str) -> None:
        try:
            await self._lives[uid].live()
        finally:
            del self._lives[uid]


async def main(kubeconfig: str, folder: Path) -> None:
    async with connect(kubeconfig) as api, serving_logs(folder) as port, anyio.create_task_group() as group:
        await Kubelet(api, group, folder, port).run()


if __name__ == "__main__":
    anyio.run(
        main, sys.argv[1], Path(tempfile.mkdtemp(prefix="pods-", dir=Path.cwd())), backend_options={"use_uvloop": True}
    )
