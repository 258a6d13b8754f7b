"""The OpenAPI document, made of the operations and their types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from engine.gateway.bodies import Refused
from engine.gateway.operations import Operation

_REFERENCE = "#/components/schemas/{name}"


def openapi(operations: Sequence[Operation], version: str, *, secured: bool) -> dict[str, Any]:
    """The document. `secured`: every operation wants the bearer token."""
    types = list(dict.fromkeys(type for one in operations for type in _types(one)))
    schemas, components = msgspec.json.schema_components(types, schema_hook=_anything, ref_template=_REFERENCE)
    of = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, of, components)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Propwash", "version": version},
        "paths": paths,
        "components": {"schemas": components},
    }
    if secured:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


def _anything(kind: type) -> dict[str, Any]:
    """Of a field that may hold any JSON value."""
    assert kind is object, kind
    return {"description": "Any JSON value."}


def _types(one: Operation) -> Iterator[type[Struct]]:
    yield from (type for type in (one.query, one.body, one.answer, Refused) if type is not None)


def _operation(one: Operation, of: dict[type[Struct], Any], components: dict[str, Any]) -> dict[str, Any]:
    kind = "text/event-stream" if one.stream else "application/json"
    found: dict[str, Any] = {
        "operationId": getattr(one.handler, "__name__", one.path),
        "summary": (inspect.getdoc(one.handler) or "").partition("\n")[0],
        "parameters": [*_in_path(one.path), *(_in_query(one.query, components) if one.query else ())],
        "responses": {
            str(one.status): {"description": inspect.getdoc(one.answer), "content": {kind: {"schema": of[one.answer]}}},
            "default": {"description": "Refused", "content": {"application/json": {"schema": of[Refused]}}},
        },
    }
    if one.body:
        found["requestBody"] = {"content": {"application/json": {"schema": of[one.body]}}}
    return found


def _in_path(path: str) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(query: type[Struct], components: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, schema in components[query.__name__]["properties"].items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}
