"""The operations of the HTTP API: one row each, of which the routes and the OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.gateway.expectations import said
from engine.gateway.guard import Refuse

_T = TypeVar("_T", bound=Struct)
ROOT = "/api/v1"
ONE = ROOT + "/executions/{project}/{domain}/{name}"


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    """Its docstring is the description."""
    answer: type[Struct]
    query: type[Struct] | None = None
    body: type[Struct] | None = None
    status: int = 200
    stream: bool = False
    """Server-sent events, each with one `answer` as its data."""


async def read_body(request: web.Request, kind: type[_T]) -> _T:
    """The JSON body; nothing at all is an empty object. Raises Refuse."""
    data = await request.read()
    if request.content_type != "application/json" and data:
        # A form of a foreign page can't send this type without asking first.
        raise Refuse(415, "UnsupportedMediaType", f"expected application/json, got {request.content_type}")
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except msgspec.ValidationError as problem:
        told = said(str(problem), kind, msgspec.json.decode(data or b"{}"), nulls=True)
        raise Refuse(400, "BadInput", f"body: {told}") from problem
    except msgspec.MsgspecError as problem:
        raise Refuse(400, "BadInput", f"body: {problem}") from problem


def read_query(request: web.Request, kind: type[_T]) -> _T:
    """Raises Refuse."""
    given: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in request.query:
            values = request.query.getall(field.encode_name)
            given[field.encode_name] = values if isinstance(field.default, tuple) else values[-1]
    unknown = set(request.query) - set(given)
    if unknown:
        raise Refuse(400, "BadInput", f"no such parameter: {', '.join(sorted(unknown))}")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.MsgspecError as problem:
        raise Refuse(400, "BadInput", f"parameters: {said(str(problem), kind, given, nulls=False)}") from problem
