"""A proxy before an S3 server that spoils the answers it is told to spoil, and counts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """Behind the bucket."""
        return unquote(urlsplit(self.target).path).partition("/")[2].partition("/")[2]

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def part(self) -> int:
        """Of a multipart upload; 0 = none."""
        return int(self.query.get("partNumber", ["0"])[0])


@dataclass(frozen=True)
class Answer:
    """The server is not asked."""

    status: int
    code: str
    body: str | None = None
    """In place of one that says the code."""


@dataclass(frozen=True)
class Silence:
    """The server is not asked, and the client hears nothing."""


@dataclass(frozen=True)
class Lost:
    """The server does it, and the connection breaks before it answers."""


@dataclass(frozen=True)
class Cut:
    """The answer breaks off so many bytes before its end."""

    missing: int


@dataclass(frozen=True)
class Reset:
    """The server is not asked, and the connection breaks at once."""


Fault = Answer | Silence | Lost | Cut | Reset
Choose = Callable[[Request], Fault | None]


@dataclass
class Flaky:
    host: str
    port: int
    choose: Choose
    seen: list[Request] = field(default_factory=list)
    busy: list[Request] = field(default_factory=list)
    """Those that have no answer yet."""
    busiest: int = 0
    connections: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        try:
            await self._answer(await _request(reader, writer), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            """The client went away."""
        finally:
            self.connections.discard(task)
            writer.close()

    async def _answer(self, asked: tuple[Request, bytes], writer: asyncio.StreamWriter) -> None:
        request, raw = asked
        self.seen.append(request)
        self.busy.append(request)
        self.busiest = max(len(self.busy), self.busiest)
        try:
            fault = self.choose(request)
            if isinstance(fault, Silence):
                await asyncio.Event().wait()
            if isinstance(fault, Reset):
                writer.transport.abort()
                return
            answer = _made(fault) if isinstance(fault, Answer) else await self._forward(raw)
            if isinstance(fault, Cut):
                answer = answer[: -fault.missing]
            if not isinstance(fault, Lost):
                writer.write(answer)
                await writer.drain()
        finally:
            self.busy.remove(request)

    async def _forward(self, raw: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(raw)
            await writer.drain()
            return await reader.read()
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[Request, bytes]:
    """One request, and its bytes as they are sent on."""
    head = await reader.readuntil(b"\r\n\r\n")
    if b"100-continue" in head:
        head = re.sub(rb"(?i)\r\nexpect: 100-continue", b"", head)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    first, *lines = head.decode().strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, target, _ = first.split(" ")
    head = head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    return Request(method, target, headers, body), head + body


def _made(answer: Answer) -> bytes:
    error = f"<Error><Code>{answer.code}</Code><Message>as the test wants it</Message></Error>"
    body = (error if answer.body is None else answer.body).encode()
    head = f"HTTP/1.1 {answer.status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@asynccontextmanager
async def flaky(endpoint: str, choose: Choose) -> AsyncIterator[tuple[Flaky, str]]:
    """The proxy, and the endpoint that it is."""
    upstream = urlsplit(endpoint)
    assert upstream.hostname
    assert upstream.port
    proxy = Flaky(upstream.hostname, upstream.port, choose)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    try:
        yield proxy, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(proxy.connections):
            task.cancel()
        await asyncio.gather(*proxy.connections, return_exceptions=True)
