"""What was expected of a request's values, in words: the decoder's own messages name types of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

_PLACE = re.compile(r"(?P<problem>.*) - at `\$\.?(?P<name>\w*)(?P<rest>.*)`", re.DOTALL)
_WORDS: Mapping[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    object: "any JSON value",
    NoneType: "null",
}
SHOWN = 100
"""Characters of a value."""


def said(problem: str, kind: type[Struct], given: object, *, nulls: bool) -> str:
    """What the decoder says of `given`, which should be a `kind`. `nulls`: null can be given (not in a query)."""
    place = _PLACE.fullmatch(problem)
    types = {field.encode_name: field.type for field in structs.fields(kind)}
    if place is None or place["name"] not in types or not isinstance(given, Mapping):
        return problem.replace("`", "'")
    name = place["name"]
    return f"{name}: expected {_expected(types[name], nulls)}, got {_shown(given.get(name))}"


def _expected(kind: Any, nulls: bool) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(str(each.value) for each in kind)}"
    parts = get_args(kind)
    origin = get_origin(kind)
    if origin is Literal:
        return f"one of {', '.join(repr(each) if each == '' else str(each) for each in parts)}"
    if origin in (Union, UnionType):
        wanted = [_expected(part, nulls) for part in parts if part is not NoneType or nulls]
        return " or ".join(wanted)
    if origin in (tuple, list, frozenset):
        return _expected(parts[0], nulls) if not nulls else f"a list, each {_expected(parts[0], nulls)}"
    if origin is dict:
        return f"an object, each value {_expected(parts[1], nulls)}"
    return _WORDS.get(kind, "an object")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
