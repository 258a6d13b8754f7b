"""A proxy before an API server that spoils what it is told to spoil, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.backing.kubernetes.api import LINE_BYTES, Api, connect
from tests.backing.kubernetes.control_plane import kubeconfig

NOT_PASSED_ON = {"host", "authorization", "connection", "accept-encoding", "content-length", "transfer-encoding"}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    token: str
    body: bytes

    @property
    def watches(self) -> bool:
        return self.query.get("watch") in ("true", "True", "1")

    @property
    def creates_pod(self) -> bool:
        return self.method == "POST" and self.path.endswith("/pods")

    @property
    def deletes(self) -> bool:
        return self.method == "DELETE"


@dataclass(frozen=True)
class Answer:
    """The server is not asked."""

    status: int
    message: str = "as the test wants it"
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Delayed:
    """The server is asked later."""

    seconds: float


@dataclass(frozen=True)
class Lost:
    """The server does it, and the connection breaks before it answers."""


@dataclass(frozen=True)
class Reset:
    """The server is not asked, and the connection breaks at once."""


@dataclass(frozen=True)
class Silent:
    """A watch from which nothing comes after so many lines; the connection stays."""

    lines: int = 0


@dataclass(frozen=True)
class Cut:
    """A watch whose connection breaks in the middle of the line after so many lines."""

    lines: int = 0


@dataclass(frozen=True)
class Ended:
    """A watch that ends in order, after so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Expired:
    """A watch that is answered with 200 and an ERROR event: 410 Gone."""


Fault = Answer | Delayed | Lost | Reset | Silent | Cut | Ended | Expired
Choose = Callable[[Request], Fault | None]
GONE = Answer(410, "too old resource version", "Expired")


class Faulty:
    def __init__(self, api: Api) -> None:
        self._api = api
        self.choose: Choose = lambda request: None
        self.before_answer: Callable[[Request], Awaitable[None] | None] = lambda request: None
        """What is awaited between the server's answer and its delivery."""
        self.seen: list[Request] = []
        self._runner: web.AppRunner
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def up(self) -> None:
        """Serve, at the same address as before."""
        application = web.Application(client_max_size=LINE_BYTES)
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def down(self) -> None:
        """Nobody listens, and every connection is broken."""
        for connection in list(self._runner.server.connections if self._runner.server else []):
            if connection.transport:
                connection.transport.abort()
        await self._runner.cleanup()

    async def _serve(self, asked: web.Request) -> web.StreamResponse:
        token = asked.headers.get("Authorization", "").removeprefix("Bearer ")
        request = Request(asked.method, asked.path, dict(asked.query), token, await asked.read())
        self.seen.append(request)
        fault = self.choose(request)
        if isinstance(fault, Reset):
            return _break(asked)
        if isinstance(fault, Answer):
            return _status(fault)
        if isinstance(fault, Expired):
            event = {"type": "ERROR", "object": _document(GONE)}
            return web.Response(body=json.dumps(event).encode() + b"\n", content_type="application/json")
        if isinstance(fault, Delayed):
            await asyncio.sleep(fault.seconds)
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in NOT_PASSED_ON}
        unbounded = aiohttp.ClientTimeout(total=None, sock_read=None)
        call = self._api.session.request(
            asked.method, self._api.url + asked.path_qs, headers=headers, data=request.body or None, timeout=unbounded
        )
        try:
            return await self._pass_on(asked, request, fault, call)
        except aiohttp.ClientError:
            return _break(asked)  # the server itself is away

    async def _pass_on(
        self,
        asked: web.Request,
        request: Request,
        fault: Fault | None,
        call: AbstractAsyncContextManager[aiohttp.ClientResponse],
    ) -> web.StreamResponse:
        async with call as reply:
            if not request.watches or reply.status != 200:
                body = await reply.read()
                if (pause := self.before_answer(request)) is not None:
                    await pause
                if isinstance(fault, Lost):
                    return _break(asked)
                kept = {name: reply.headers[name] for name in ("Content-Type", "Retry-After") if name in reply.headers}
                return web.Response(status=reply.status, body=body, headers=kept)
            return await _stream(asked, reply, fault)


async def _stream(asked: web.Request, reply: aiohttp.ClientResponse, fault: Fault | None) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": reply.headers["Content-Type"]})
    await answer.prepare(asked)
    try:
        async with asyncio.timeout(fault.seconds if isinstance(fault, Ended) else None):
            passed = 0
            async for line in _lines(reply):
                if isinstance(fault, Silent) and passed >= fault.lines:
                    await asyncio.Event().wait()
                if isinstance(fault, Cut) and passed >= fault.lines:
                    await answer.write(line[: len(line) // 2])
                    return _break(asked, answer)
                await answer.write(line)
                passed += 1
    except TimeoutError:
        """It ends in order, as asked."""
    await answer.write_eof()
    return answer


async def _lines(reply: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    line = bytearray()
    async for chunk, _ in reply.content.iter_chunks():
        *whole, rest = chunk.split(b"\n")
        for each in whole:
            yield bytes(line) + each + b"\n"
            line = bytearray()
        line += rest


def _break(asked: web.Request, answer: web.StreamResponse | None = None) -> web.StreamResponse:
    if asked.transport:
        asked.transport.abort()
    return answer or web.Response()


def _status(answer: Answer) -> web.Response:
    return web.json_response(_document(answer), status=answer.status, headers=dict(answer.headers))


def _document(answer: Answer) -> dict[str, object]:
    told = {"message": answer.message, "reason": answer.reason, "code": answer.status}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", **told}


@asynccontextmanager
async def faulty(config: str | Path, folder: Path, context: str | None = None) -> AsyncIterator[tuple[Faulty, Path]]:
    """The proxy, and a kubeconfig for it, below a folder. Whoever comes is the user of `context` to the server."""
    async with connect(config, context) as api:
        proxy = Faulty(api)
        await proxy.up()
        written = folder / "kubeconfig-of-the-proxy"
        written.write_text(kubeconfig(proxy.url, {"engine": "a-token"}))
        try:
            yield proxy, written
        finally:
            await proxy.down()
