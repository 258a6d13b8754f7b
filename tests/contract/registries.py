"""A small registry of images on this machine: the parts of the OCI distribution API that are only read."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from aiohttp import web

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
Door = Literal["open", "token", "basic", "closed"]
PASSWORD, TOKEN = "me:secret", "a-token"


class TestRegistry:
    """`door`: what callers must show. `fails`: the status of every answer, where not 0."""

    __test__ = False

    def __init__(self, door: Door) -> None:
        self.door, self.fails = door, 0
        self.asked: Counter[str] = Counter()
        """METHOD and kind of what was asked for: `HEAD manifests`, `GET token` ..."""
        self._tags: dict[str, str] = {}
        self._objects: dict[str, tuple[str, bytes]] = {}
        self.address = ""

    def push(self, name: str, platforms: Sequence[str], *, listed: bool = True) -> str:
        """An image `name:tag` for platforms such as `linux/arm/v7`; its digest. `listed`: as an index."""
        described = [_platform(it) for it in platforms]
        if not listed:
            (only,) = described
            config = self._keep("application/vnd.oci.image.config.v1+json", {**only, "rootfs": {}})
            return self._tag(name, self._keep(MANIFEST, {"schemaVersion": 2, "config": {"digest": config}}))
        entries = [{"digest": f"sha256:{place:064x}", "platform": it} for place, it in enumerate(described)]
        return self._tag(name, self._keep(INDEX, {"schemaVersion": 2, "manifests": entries}))

    def _keep(self, kind: str, document: object) -> str:
        data = json.dumps(document).encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._objects[digest] = kind, data
        return digest

    def _tag(self, name: str, digest: str) -> str:
        self._tags[name] = digest
        return digest

    def image(self, name: str) -> str:
        return f"{self.address}/{name}"

    async def serve(self, request: web.Request) -> web.Response:
        name, kind, reference = (request.match_info[part] for part in ("name", "kind", "reference"))
        self.asked[f"{request.method} {kind}"] += 1
        if self.fails:
            return web.Response(status=self.fails)
        if refused := self._refused(request, name):
            return refused
        digest = reference if ":" in reference else self._tags.get(f"{name}:{reference}", "")
        if digest not in self._objects:
            return web.Response(status=404)
        media, data = self._objects[digest]
        assert kind == "blobs" or media in request.headers["Accept"]
        return web.Response(body=data, headers={"Content-Type": media, "Docker-Content-Digest": digest})

    def _refused(self, request: web.Request, name: str) -> web.Response | None:
        shown = request.headers.get("Authorization", "")
        realm = f'Bearer realm="http://{self.address}/token",service="tests",scope="repository:{name}:pull"'
        wanted, challenge = {
            "open": (shown, ""),
            "token": (f"Bearer {TOKEN}", realm),
            "basic": (_basic(), 'Basic realm="tests"'),
            "closed": ("nothing will do", realm),
        }[self.door]
        return None if shown == wanted else web.Response(status=401, headers={"WWW-Authenticate": challenge})

    async def token(self, request: web.Request) -> web.Response:
        self.asked["GET token"] += 1
        if request.headers.get("Authorization") != _basic():
            return web.Response(status=401)
        assert request.query["service"] == "tests"
        assert request.query["scope"].startswith("repository:")
        return web.json_response({"token": TOKEN})


def _basic() -> str:
    return f"Basic {base64.b64encode(PASSWORD.encode()).decode()}"


def _platform(text: str) -> dict[str, str]:
    os, architecture, *variant = text.split("/")
    return {"os": os, "architecture": architecture, **({"variant": variant[0]} if variant else {})}


@asynccontextmanager
async def registry(door: Door = "open") -> AsyncIterator[TestRegistry]:
    found = TestRegistry(door)
    app = web.Application()
    app.router.add_get("/token", found.token)
    app.router.add_get("/v2/{name:.+}/{kind:manifests|blobs}/{reference}", found.serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        found.address = f"127.0.0.1:{runner.addresses[0][1]}"
        yield found
    finally:
        await runner.cleanup()


def docker_config(address: str) -> str:
    """A file of credentials as `docker login` writes it."""
    return json.dumps({"auths": {address: {"auth": base64.b64encode(PASSWORD.encode()).decode()}}})
