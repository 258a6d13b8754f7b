"""A small API server for pods, in the test's own process, which fails as it is told to; its kubelet is a function."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

Json = dict[str, Any]
Trouble = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
PATH = "/api/v1/namespaces/{namespace}/pods"
RESOURCES = "/apis/{group}/{version}/namespaces/{namespace}/{plural}"


def refusal(status: int, reason: str = "", message: str = "", **headers: str) -> web.Response:
    body = {"kind": "Status", "code": status, "reason": reason, "message": message}
    return web.json_response(body, status=status, headers=headers)


def verb_of(call: web.Request) -> str:
    """`POST`, `GET`, `DELETE`, `LIST`, `WATCH`, `LOG`, `PATCH`, or `GREET`: of an engine that starts."""
    if call.path == "/api":
        return "GREET"
    if call.method != "GET":
        return call.method
    if call.path.endswith("/log"):
        return "LOG"
    if "name" in call.match_info:
        return "GET"
    return "WATCH" if "watch" in call.query else "LIST"


class FakeApi:
    def __init__(self) -> None:
        self.pods: dict[str, Json] = {}
        self.kubelet: Callable[[Json], None] = lambda pod: None
        """Told of every pod that was made."""
        self.trouble: list[Trouble] = []
        """Asked about every call, the last one first: an answer of its own takes the place of the right one."""
        self.calls: list[str] = []
        """See `verb_of`."""
        self.versions = itertools.count(100)
        self.version = 99
        self.watches: set[asyncio.Queue[bytes | None]] = set()
        self.history: list[tuple[int, bytes]] = []
        self.url = ""
        self.resources: FakeApi
        """Custom resources, of whatever kind."""
        self._called = asyncio.Event()

    async def called(self) -> None:
        """Wait for the next call."""
        await self._called.wait()

    @classmethod
    @asynccontextmanager
    async def serving(cls, folder: Path) -> AsyncIterator[tuple[FakeApi, str]]:
        """The API, and a kubeconfig for it."""
        api = cls()
        api.resources = cls()
        app = web.Application(client_max_size=2**25, middlewares=[api._middle])
        for path, each in ((PATH, api), (RESOURCES, api.resources)):
            app.router.add_get(path, each._list)
            app.router.add_post(path, each._create)
            app.router.add_get(path + "/{name}", each._read)
            app.router.add_patch(path + "/{name}", each._patch)
            app.router.add_delete(path + "/{name}", each._delete)
            app.router.add_get(path + "/{name}/log", each._log)
        app.router.add_get("/api", api._greet)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server = site._server
        assert isinstance(server, asyncio.Server)
        api.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield api, str(api._kubeconfig(folder))
        finally:
            api.cut()
            api.resources.cut()
            await runner.cleanup()

    def _kubeconfig(self, folder: Path) -> Path:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config))
        return path

    # what a test does to the cluster

    def status(self, name: str, phase: str, state: Json | None = None, **more: Any) -> None:
        pod = self.pods[name]
        primary = pod["metadata"]["annotations"].get("primary_container_name", "main")
        status: Json = {"phase": phase, **more}
        if state is not None:
            status["containerStatuses"] = [{"name": primary, "state": state, "image": "i"}]
        pod["status"] = status
        self._changed("MODIFIED", pod)

    def set_status(self, name: str, status: Json) -> None:
        """Of any object."""
        self.pods[name]["status"] = status
        self._changed("MODIFIED", self.pods[name])

    def annotate(self, name: str, **annotations: str) -> None:
        self.pods[name]["metadata"]["annotations"].update(annotations)
        self._changed("MODIFIED", self.pods[name])

    def drop(self, name: str, *, silently: bool = False) -> None:
        pod = self.pods.pop(name)
        if not silently:
            self._changed("DELETED", pod)

    def cut(self) -> None:
        """End every watch."""
        for queue in self.watches:
            queue.put_nowait(None)

    def put(self, pod: Json) -> None:
        """A pod that somebody else makes."""
        pod["metadata"].setdefault("uid", f"uid-{next(self.versions)}")
        self.pods[pod["metadata"]["name"]] = pod
        self._changed("ADDED", pod)

    def _changed(self, kind: str, pod: Json) -> None:
        self.version = next(self.versions)
        pod["metadata"]["resourceVersion"] = str(self.version)
        line = json.dumps({"type": kind, "object": pod}).encode() + b"\n"
        self.history.append((self.version, line))
        for queue in self.watches:
            queue.put_nowait(line)

    # what the API answers

    @web.middleware
    async def _middle(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        verb = verb_of(request)
        (self.resources if "plural" in request.match_info else self).calls.append(verb)
        self._called.set()
        self._called = asyncio.Event()
        for trouble in reversed(self.trouble):
            if (answer := await trouble(request)) is not None:
                return answer
        return await handler(request)

    async def _greet(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "APIVersions", "versions": ["v1"]})

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if verb_of(request) == "WATCH":
            return await self._watch(request)
        meta = {"resourceVersion": str(self.version)}
        return web.json_response({"kind": "PodList", "metadata": meta, "items": list(self.pods.values())})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        since = int(request.query["resourceVersion"])
        for version, line in self.history:
            if version > since:
                queue.put_nowait(line)
        self.watches.add(queue)
        response = web.StreamResponse()
        try:
            await response.prepare(request)
            async with asyncio.timeout(float(request.query["timeoutSeconds"])):
                while (event := await queue.get()) is not None:
                    await response.write(event)
        except TimeoutError:
            pass
        finally:
            self.watches.discard(queue)
        return response

    async def _create(self, request: web.Request) -> web.StreamResponse:
        pod = await request.json()
        name = pod["metadata"]["name"]
        if name in self.pods:
            return refusal(409, "AlreadyExists", f'pods "{name}" already exists')
        pod["metadata"] |= {"uid": f"uid-{next(self.versions)}", "creationTimestamp": "2026-01-01T12:00:00Z"}
        if pod["kind"] == "Pod":
            pod["status"] = {"phase": "Pending"}
        self.pods[name] = pod
        self._changed("ADDED", pod)
        body = json.dumps(pod)
        self.kubelet(pod)
        return web.json_response(text=body, status=201)

    def _found(self, request: web.Request) -> Json | None:
        return self.pods.get(request.match_info["name"])

    async def _read(self, request: web.Request) -> web.StreamResponse:
        pod = self._found(request)
        return web.json_response(pod) if pod else refusal(404, "NotFound")

    async def _patch(self, request: web.Request) -> web.StreamResponse:
        pod = self._found(request)
        if pod is None:
            return refusal(404, "NotFound")
        finalizers = (await request.json())["metadata"]["finalizers"]
        pod["metadata"].pop("finalizers", None)
        if finalizers:
            pod["metadata"]["finalizers"] = finalizers
        if not finalizers and "deletionTimestamp" in pod["metadata"]:
            self.drop(pod["metadata"]["name"])
        else:
            self._changed("MODIFIED", pod)
        return web.json_response(pod)

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        pod = self._found(request)
        if pod is None:
            return refusal(404, "NotFound")
        body = await request.json()
        if body["preconditions"]["uid"] != pod["metadata"]["uid"]:
            return refusal(409, "Conflict", "the UID in the precondition does not match")
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:30Z"
        stubborn = pod["metadata"]["annotations"].get("stubborn") and body.get("gracePeriodSeconds") != 0
        if stubborn or pod["metadata"].get("finalizers"):
            self._changed("MODIFIED", pod)
        else:
            self.drop(pod["metadata"]["name"])
        return web.json_response(pod)

    async def _log(self, request: web.Request) -> web.StreamResponse:
        pod = self._found(request)
        if pod is None:
            return refusal(404, "NotFound")
        if pod["status"]["phase"] == "Pending":
            return refusal(400, "BadRequest", "the container is waiting to start: ContainerCreating")
        return web.Response(body=b"printed by " + request.query["container"].encode())
