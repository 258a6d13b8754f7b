"""The Kubernetes API as plain JSON: what the tests and their kubelet speak, so that no client is tested by itself."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import load_kube_config
from msgspec import Struct

Document = dict[str, Any]
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
LINE_BYTES = 1 << 24
"""The longest event of a watch."""


class ApiError(Exception):
    """An answer that is no 2xx."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body[:500]}")
        self.status, self.body = status, body


class Event(Struct, frozen=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class List(Struct, frozen=True):
    items: list[msgspec.Raw]
    metadata: Document


class Api:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session, self.url = session, url

    async def get(self, path: str, **query: str) -> Document:
        return msgspec.json.decode(await self._ask("GET", path, query), type=Document)

    async def list(self, path: str, **query: str) -> List:
        """The items not read yet."""
        return msgspec.json.decode(await self._ask("GET", path, query), type=List)

    async def create(self, path: str, body: Document) -> Document:
        return msgspec.json.decode(await self._ask("POST", path, {}, body), type=Document)

    async def patch(self, path: str, body: Document, kind: str = MERGE) -> None:
        await self._ask("PATCH", path, {}, body, kind)

    async def delete(self, path: str, body: Document | None = None, **query: str) -> None:
        await self._ask("DELETE", path, query, body)

    async def watch(self, path: str, **query: str) -> AsyncIterator[Event]:
        """Until the server ends it. Raises ApiError, aiohttp.ClientError."""
        params = {**query, "watch": "true", "allowWatchBookmarks": "true"}
        unbounded = aiohttp.ClientTimeout(total=None, sock_read=None)
        async with self.session.get(self.url + path, params=params, timeout=unbounded) as reply:
            if reply.status != 200:
                raise ApiError(reply.status, await reply.text())
            line = bytearray()
            async for chunk, _ in reply.content.iter_chunks():
                *lines, rest = chunk.split(b"\n")
                for each in lines:
                    line += each
                    yield msgspec.json.decode(line, type=Event)
                    line = bytearray()
                line += rest

    async def _ask(
        self, method: str, path: str, query: Mapping[str, str], body: Document | None = None, kind: str = ""
    ) -> bytes:
        headers = {"Content-Type": kind or "application/json"} if body is not None else {}
        data = msgspec.json.encode(body) if body is not None else None
        async with self.session.request(method, self.url + path, params=query, data=data, headers=headers) as reply:
            answer = await reply.read()
            if reply.status >= 300:
                raise ApiError(reply.status, answer.decode(errors="replace"))
            return answer


@asynccontextmanager
async def connect(kubeconfig: str | Path, context: str | None = None) -> AsyncIterator[Api]:
    """As the user of a context of the file; None = its current one."""
    found = Configuration()
    await load_kube_config(str(kubeconfig), context, found)
    trust = ssl.create_default_context(cafile=found.ssl_ca_cert)
    if found.cert_file:
        trust.load_cert_chain(found.cert_file, found.key_file)
    token = await found.get_api_key_with_prefix("BearerToken")
    connector = aiohttp.TCPConnector(ssl=trust, limit=64)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": token} if token else {}) as session:
        yield Api(session, str(found.host))
