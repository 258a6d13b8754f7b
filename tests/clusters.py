"""What tests do with the cluster of the run: a namespace each, pods in it, and waiting for what becomes of them."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import anyio
import msgspec

from tests.backing.kubernetes.api import Api, ApiError, Document, connect
from tests.backing.kubernetes.control_plane import ENGINE
from tests.backing.kubernetes.specs import SCRIPT, Script
from tests.backing.session import address

LIMIT_SECONDS = 60.0
"""The longest that a test waits for what must come."""
END = "the-end"
AGAIN_SECONDS = 0.25
Pods = Mapping[str, Document]
"""By name."""
__all__ = ["Document", "History", "Pods", "Space", "end_of", "ended", "phases", "pod", "space"]


@dataclass
class History:
    made: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By name: the uids of all pods that had it."""
    deleted: set[str] = field(default_factory=set)
    """Names of pods that are gone or were told to go."""

    last: dict[str, Document] = field(default_factory=dict)
    """By name: the pod as it was seen last."""

    def add(self, kind: str, pod: Document) -> None:
        metadata = pod["metadata"]
        self.last[metadata["name"]] = pod
        self.made[metadata["name"]].add(metadata["uid"])
        if kind == "DELETED" or metadata.get("deletionTimestamp"):
            self.deleted.add(metadata["name"])

    async def follow(self, at: Space, since: str) -> None:
        """Until a pod named END appears, which is not counted. Goes on where it was when the server was away."""
        while True:
            with suppress(aiohttp.ClientError):
                async for event in at.api.watch(f"{at.path}/pods", resourceVersion=since):
                    pod = msgspec.json.decode(event.object, type=Document)
                    if event.type == "ERROR":
                        since = await self._look(at)
                        break
                    since = pod["metadata"]["resourceVersion"]
                    if event.type != "BOOKMARK" and pod["metadata"]["name"] == END:
                        return
                    if event.type != "BOOKMARK":
                        self.add(event.type, pod)
            await anyio.sleep(AGAIN_SECONDS)

    async def _look(self, at: Space) -> str:
        """The server has forgotten what it was: all pods, as they are now; the version from which to follow."""
        since, pods = await at.version(), await at.pods()
        self.deleted |= self.made.keys() - pods.keys()
        for each in pods.values():
            self.add("ADDED", each)
        return since

    def nodes(self) -> set[str]:
        return {pod["spec"]["nodeName"] for pod in self.last.values()}

    @property
    def twice(self) -> list[str]:
        """Names under which more than one pod was made."""
        return [name for name, uids in self.made.items() if len(uids) > 1]


class Space:
    """A namespace, seen by an admin."""

    def __init__(self, api: Api, name: str, kubeconfig: Path, folder: Path) -> None:
        self.api, self.name, self.kubeconfig, self.folder = api, name, kubeconfig, folder
        self.path = f"/api/v1/namespaces/{name}"

    def settings(self, *scripts: Script, env: Mapping[str, str] = {}, more: Mapping[str, str] = {}) -> tuple[str, ...]:
        """Of an engine whose tasks are pods here, as `--set` takes them. `scripts`: played, one for each attempt."""
        annotations = {SCRIPT: msgspec.json.encode(scripts).decode()} if scripts else {}
        given = {"tasks.runner": "kubernetes", "pods.shared_folders": "true", "kubernetes.namespace": self.name}
        given["pods.keep_succeeded"] = "3600"  # what a slow machine takes long for is not tidied away meanwhile
        given |= {"kubernetes.kubeconfig": str(self.kubeconfig), "kubernetes.context": engine_context(self) or "null"}
        given |= {"pods.annotations": json.dumps(annotations), "pods.env": json.dumps(dict(env)), **more}
        return tuple(f"{name}={value}" for name, value in given.items())

    async def run(self, pod: Document) -> str:
        """Create a pod; its name."""
        await self.api.create(f"{self.path}/pods", pod)
        return str(pod["metadata"]["name"])

    async def pods(self) -> dict[str, Document]:
        return {pod["metadata"]["name"]: pod for pod in (await self.api.get(f"{self.path}/pods"))["items"]}

    async def delete(self, name: str, grace_seconds: int | None = None) -> None:
        """As kubectl does."""
        body = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        await self.api.delete(f"{self.path}/pods/{name}", body)

    async def until(self, condition: Callable[[Pods], bool], seconds: float = LIMIT_SECONDS) -> dict[str, Document]:
        """The pods, once the condition holds. Raises TimeoutError."""
        seen: dict[str, Document] = {}
        with anyio.move_on_after(seconds):
            while True:
                found = await self.api.get(f"{self.path}/pods")
                seen = {pod["metadata"]["name"]: pod for pod in found["items"]}
                if condition(seen):
                    return seen
                version = found["metadata"]["resourceVersion"]
                with suppress(aiohttp.ClientError, ApiError):
                    async for event in self.api.watch(f"{self.path}/pods", resourceVersion=version):
                        pod = msgspec.json.decode(event.object, type=Document)
                        if event.type in ("ADDED", "MODIFIED"):
                            seen[pod["metadata"]["name"]] = pod
                        elif event.type == "DELETED":
                            seen.pop(pod["metadata"]["name"], None)
                        if condition(seen):
                            return seen
        raise TimeoutError(f"after {seconds} s the pods of {self.name} are {phases(seen)}")

    async def text(self, name: str) -> str:
        """What the pod's first container printed."""
        async with self.api.session.get(f"{self.api.url}{self.path}/pods/{name}/log") as reply:
            return await reply.text()

    def as_engine(self) -> AbstractAsyncContextManager[Api]:
        """The API as the user that may only do what the engine may; in a cluster that is not ours, as an admin."""
        return connect(self.kubeconfig, engine_context(self))

    async def version(self) -> str:
        return str((await self.api.list(f"{self.path}/pods", limit="1")).metadata["resourceVersion"])

    async def history(self, since: str) -> History:
        """What has become of pods since a version, of which the API server must still know."""
        seen = History()
        async for event in self.api.watch(f"{self.path}/pods", resourceVersion=since, timeoutSeconds="1"):
            assert event.type != "ERROR", f"follow the pods from the first: {event.object!r}"
            if event.type != "BOOKMARK":
                seen.add(event.type, msgspec.json.decode(event.object, type=Document))
        return seen

    async def set_quota(self, pods: int) -> None:
        """So many pods at most. A controller would copy the limit into the status, where admission looks."""
        hard, path = {"hard": {"pods": str(pods)}}, f"{self.path}/resourcequotas"
        with suppress(ApiError):
            await self.api.create(path, {"metadata": {"name": "quota"}, "spec": hard})
            await self.api.patch(f"{path}/quota/status", {"status": {**hard, "used": {"pods": "0"}}})
        await self.api.patch(f"{path}/quota", {"spec": hard})
        await self.api.patch(f"{path}/quota/status", {"status": hard})

    async def mark_end(self) -> None:
        """For whoever follows the pods: a pod that never runs."""
        await self.run(pod(END, spec={"schedulingGates": [{"name": "propwash.dev/never"}]}))
        await self.delete(END, 0)

    async def removed(self, name: str, grace_seconds: int) -> Document:
        """Delete it; the pod as it was when it went. Raises TimeoutError."""
        version = (await self.api.get(f"{self.path}/pods"))["metadata"]["resourceVersion"]
        await self.delete(name, grace_seconds)
        query = {"fieldSelector": f"metadata.name={name}", "resourceVersion": version}
        with anyio.fail_after(LIMIT_SECONDS):
            async for event in self.api.watch(f"{self.path}/pods", **query):
                if event.type == "DELETED":
                    return msgspec.json.decode(event.object, type=Document)
        raise AssertionError("the watch ended")

    async def clear(self) -> None:
        """No pod stays, whatever holds it."""
        for name, pod in (await self.pods()).items():
            with suppress(ApiError):
                if pod["metadata"].get("finalizers"):
                    await self.api.patch(f"{self.path}/pods/{name}", {"metadata": {"finalizers": None}})
        await self.api.delete(f"{self.path}/pods", gracePeriodSeconds="0")
        await self.api.delete(self.path)


def engine_context(at: Space) -> str | None:
    """Of the user that may only do what the engine may; in a cluster that is not ours, the current one."""
    return ENGINE if f"name: {ENGINE}\n" in at.kubeconfig.read_text() else None


@asynccontextmanager
async def space(prefix: str = "t") -> AsyncIterator[Space]:
    """A namespace that goes with the test, with the service account that a controller makes in a real cluster."""
    kubeconfig = Path(address("kubernetes"))
    with tempfile.TemporaryDirectory() as folder:
        async with connect(kubeconfig) as api:
            made = Space(api, f"{prefix}-{uuid.uuid4().hex[:8]}", kubeconfig, Path(folder))
            await api.create("/api/v1/namespaces", {"metadata": {"name": made.name}})
            with suppress(ApiError):
                await api.create(f"{made.path}/serviceaccounts", {"metadata": {"name": "default"}})
            try:
                yield made
            finally:
                with anyio.CancelScope(shield=True):
                    await made.clear()


def pod(
    name: str,
    *command: str,
    script: Script | None = None,
    image: str = "tests",
    spec: Mapping[str, object] = {},
    node: Mapping[str, str] = {},
    tolerations: Sequence[Mapping[str, str]] = (),
) -> Document:
    """A pod of one container, run or played."""
    container = {"name": "primary", "image": image, "command": list(command)}
    container["terminationMessagePolicy"] = "FallbackToLogsOnError"
    own = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    placed = {"nodeSelector": dict(node), "tolerations": list(tolerations)}
    annotations = {SCRIPT: msgspec.json.encode(script).decode()} if script else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {**own, **placed, **spec}}


def phases(pods: Pods) -> dict[str, str]:
    return {name: pod["status"].get("phase", "") for name, pod in pods.items()}


def ended(pods: Pods) -> bool:
    return bool(pods) and all(phase in ("Succeeded", "Failed") for phase in phases(pods).values())


def end_of(pod: Document) -> Document:
    """How its first container ended."""
    found: Document = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    return found
