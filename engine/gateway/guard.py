"""Who may use the API, and how what goes wrong is told: middleware around every path below /api."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from aiohttp import web

from engine.gateway.bodies import Refusal, Refused
from engine.model.errors import BadInput, BlobNotFound, EngineError, Transient

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_CODES = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}


class Refuse(Exception):
    """Answer with this status and cause."""

    def __init__(self, status: int, code: str, cause: str, kind: Literal["USER", "SYSTEM"] = "USER") -> None:
        super().__init__(cause)
        self.status, self.refusal = status, Refusal(code, kind, cause)


def answer(body: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=msgspec.json.encode(body), status=status, content_type="application/json", headers=headers)


def refused(problem: Refuse) -> web.Response:
    headers = {401: {"WWW-Authenticate": 'Bearer realm="propwash"'}, 503: {"Retry-After": "1"}}.get(problem.status)
    return answer(Refused(problem.refusal), problem.status, headers)


class Guard:
    """`token`: who knows it may do everything. "" = anybody on this machine may, and nobody else can call."""

    def __init__(self, token: str, host: str) -> None:
        self._token, self._hosts = token.encode(), _LOCAL | {host}

    @web.middleware
    async def watch(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith("/api/"):
            return await handler(request)
        try:
            self._admit(request)
            return await handler(request)
        except Refuse as problem:
            return refused(problem)
        except BadInput as problem:
            return refused(Refuse(400, problem.code, str(problem)))
        except BlobNotFound as problem:
            return refused(Refuse(404, problem.code, str(problem)))
        except Transient as problem:
            return refused(Refuse(503, problem.code, str(problem), "SYSTEM"))
        except EngineError as problem:
            # What stops the engine (LogFailed, StoreFailed) does so by itself.
            log.warning("request could not be answered", extra={"path": request.path, "cause": str(problem)})
            return refused(Refuse(503, problem.code, str(problem), "SYSTEM"))
        except web.HTTPException as problem:
            if problem.status < 400:
                raise
            cause = f"{request.method} {request.path}: {problem.reason}; /api/v1/openapi.json says what there is"
            return refused(Refuse(problem.status, _CODES.get(problem.status, "BadRequest"), cause))
        except Exception as problem:  # a verdict follows: this request fails, the engine goes on
            log.exception("request raised", extra={"path": request.path})
            return refused(Refuse(500, "Defect", f"{type(problem).__name__}: {problem}", "SYSTEM"))

    def _admit(self, request: web.Request) -> None:
        """Raises Refuse."""
        if not self._token:
            # A page in a browser may reach this machine's ports by a name of its own: the name gives it away.
            if _host(request.host) not in self._hosts:
                raise Refuse(403, "Forbidden", f"Host {request.host!r} is not this machine; set http.token_file")
            return
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            raise Refuse(401, "Unauthorized", "expected the header 'Authorization: Bearer TOKEN' with the token")


def _host(name: str) -> str:
    """Without the port."""
    head, colon, port = name.rpartition(":")
    return head if colon and port.isdigit() else name
