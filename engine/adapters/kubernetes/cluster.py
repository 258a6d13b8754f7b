"""Calls of one API server: paced, bounded in time, told apart by what the server answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from engine.adapters.kubernetes.access import Access, Login, log_in, renewed
from engine.adapters.kubernetes.classify import Answer
from engine.adapters.kubernetes.pace import Pace
from engine.model.errors import BadInput

T = TypeVar("T")
CONNECT_SECONDS, CALL_SECONDS = 5.0, 30.0
TOKEN_SECONDS = 60.0
"""After which a token is looked up again."""
LONGEST_LINE = 64 * 2**20
"""Bytes of one watch event; objects in etcd have 1.5 MiB by default."""
_NOTHING = (aiohttp.ClientError, TimeoutError, OSError)
_PATCH = "application/merge-patch+json"


class CallFailed(Exception):
    """A call that did not succeed."""

    def __init__(self, answer: Answer) -> None:
        code = f"{answer.status} " if answer.status else ""
        super().__init__(f"{code}{answer.reason}: {answer.message}")
        self.answer = answer


class _Status(Struct):
    reason: str = ""
    message: str = ""


class Cluster:
    """Every method raises CallFailed; status 0 where no answer came."""

    def __init__(self, login: Login, access: Access, session: aiohttp.ClientSession, pace: Pace) -> None:
        self._login, self._access, self._session, self._pace = login, access, session, pace
        self._fresh_until = 0.0

    @classmethod
    @asynccontextmanager
    async def open(cls, login: Login, pace: Pace, calls: int) -> AsyncIterator[Cluster]:
        """Raises BadInput where the cluster's address or credentials can't be found. Calls nobody."""
        access = await log_in(login)
        connector = aiohttp.TCPConnector(limit=calls)
        async with aiohttp.ClientSession(connector=connector, trust_env=True, read_bufsize=2**18) as session:
            yield cls(login, access, session, pace)

    @property
    def url(self) -> str:
        return self._access.url

    async def get(self, path: str, params: Mapping[str, str] = {}) -> bytes:
        return await self._call("GET", path, params=params)

    async def post(self, path: str, body: object, params: Mapping[str, str] = {}) -> bytes:
        return await self._call("POST", path, body, params=params)

    async def delete(self, path: str, body: object) -> bytes:
        return await self._call("DELETE", path, body)

    async def patch(self, path: str, body: object) -> bytes:
        """A merge patch."""
        return await self._call("PATCH", path, body, kind=_PATCH)

    async def _call(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        params: Mapping[str, str] = {},
        kind: str = "application/json",
    ) -> bytes:
        data = None if body is None else msgspec.json.encode(body)
        timeout = aiohttp.ClientTimeout(total=CALL_SECONDS, sock_connect=CONNECT_SECONDS)
        async with self._answered(
            verb, path, timeout, data=data, params=params, headers={"Content-Type": kind}
        ) as reply:
            try:
                return await reply.read()
            except _NOTHING as error:
                raise _lost(error) from error

    @asynccontextmanager
    async def chunks(
        self, path: str, params: Mapping[str, str], idle_seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body as it comes; silence of `idle_seconds` counts as no answer."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=idle_seconds)
        async with self._answered("GET", path, timeout, params=params) as reply:
            yield _chunks(reply)

    @asynccontextmanager
    async def _answered(
        self, verb: str, path: str, timeout: aiohttp.ClientTimeout, **given: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A success. A token that the server no longer takes is read anew, once."""
        reply = await self._sent(verb, path, timeout, given)
        if reply.status == HTTPStatus.UNAUTHORIZED:
            reply.release()
            await self._log_in_again()
            reply = await self._sent(verb, path, timeout, given)
        try:
            if reply.status >= HTTPStatus.BAD_REQUEST:
                raise CallFailed(await self._told(reply))
            yield reply
        finally:
            reply.release()

    async def _sent(
        self, verb: str, path: str, timeout: aiohttp.ClientTimeout, given: Mapping[str, Any]
    ) -> aiohttp.ClientResponse:
        await self._pace.take()
        access = await self._current()
        try:
            return await self._session.request(
                verb,
                f"{access.url}{path}",
                timeout=timeout,
                ssl=access.tls,
                proxy=access.proxy,
                server_hostname=access.server_hostname,
                **{**given, "headers": {**given.get("headers", {}), **access.headers}},
            )
        except _NOTHING as error:
            raise _lost(error) from error

    async def _current(self) -> Access:
        now = asyncio.get_running_loop().time()
        if now >= self._fresh_until:
            self._fresh_until = now + TOKEN_SECONDS
            self._access = await renewed(self._access)
        return self._access

    async def _log_in_again(self) -> None:
        try:
            self._access = await log_in(self._login)
        except BadInput as problem:
            raise CallFailed(Answer(HTTPStatus.UNAUTHORIZED, "Unauthorized", str(problem))) from problem

    async def _told(self, reply: aiohttp.ClientResponse) -> Answer:
        try:
            body = await reply.read()
        except _NOTHING as error:
            raise _lost(error) from error
        try:
            status = msgspec.json.decode(body, type=_Status)
        except msgspec.MsgspecError:
            status = _Status(message=body[:1000].decode(errors="replace"))
        after = reply.headers.get("Retry-After", "")
        seconds = float(after) if after.isdigit() else None
        if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            self._pace.rest(seconds or 1.0)
        return Answer(reply.status, status.reason, status.message, seconds)


async def _chunks(reply: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in reply.content.iter_any():
            yield chunk
    except _NOTHING as error:
        raise _lost(error) from error


def _lost(error: BaseException) -> CallFailed:
    return CallFailed(Answer(0, type(error).__name__, str(error) or "no answer in time"))


def decoded(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """What an answer holds. Raises CallFailed for what is no such thing: a proxy on the way has answered, say."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise CallFailed(Answer(0, "BadAnswer", f"{error}: {bytes(data)[:200].decode(errors='replace')}")) from error


async def lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Whole lines only: what is cut off at the end is dropped. Raises CallFailed for a line without end."""
    rest = bytearray()
    async for chunk in chunks:
        rest += chunk
        if b"\n" not in chunk:
            if len(rest) > LONGEST_LINE:
                raise CallFailed(Answer(0, "LineTooLong", f"a line of more than {LONGEST_LINE} bytes"))
            continue
        *whole, rest = rest.split(b"\n")
        for line in whole:
            if line.strip():
                yield bytes(line)
