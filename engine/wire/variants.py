"""Which variant of a union a value is meant for: those of exactly its own type first, plain text last."""

from __future__ import annotations

import re
from collections.abc import Iterable

from flyteidl.core.types_pb2 import LiteralType, SimpleType

_WHOLE = re.compile(r"\s*[-+]?\d+\s*\Z", re.ASCII)
_SIMPLE = {
    SimpleType.NONE: "null",
    SimpleType.INTEGER: "int",
    SimpleType.FLOAT: "float",
    SimpleType.STRING: "str",
    SimpleType.BOOLEAN: "bool",
    SimpleType.STRUCT: "dict",
}
_KINDS = {type(None): "null", bool: "bool", int: "int", float: "float", list: "list", tuple: "list", dict: "dict"}


class Quoted(str):
    """A string that was one in the JSON or YAML of an inputs file: in a union with `str` it stays a string."""


class Remote(Quoted):
    """One that somebody sent from elsewhere: it never names a file to be read here."""


def by_fit(value: object, variants: Iterable[LiteralType], typed: bool) -> list[LiteralType]:
    """The variants in the order to try them; equals stay in the order of the declaration, which is flytekit's.

    Text a person typed is taken for what it looks like (`3` an int, `null` nothing), for `str` where nothing else fits.
    """
    kind = (
        _looks_like(value) if typed and isinstance(value, str) and not isinstance(value, Quoted) else _own_kind(value)
    )

    def rank(variant: LiteralType) -> int:
        takes = _kind_of(variant)
        if takes == kind:
            return 0
        if takes == "float" and kind == "int":
            return 1
        return 3 if takes == "str" else 2

    return sorted(variants, key=rank)


def _kind_of(variant: LiteralType) -> str:
    match variant.WhichOneof("type"):
        case "simple":
            return _SIMPLE.get(variant.simple, "")
        case "collection_type":
            return "list"
        case "map_value_type":
            return "dict"
    return ""


def _own_kind(value: object) -> str:
    return "str" if isinstance(value, str) else _KINDS.get(type(value), "")


def _looks_like(text: str) -> str:
    if text in ("null", "None"):
        return "null"
    if _WHOLE.match(text):
        return "int"
    if text.strip().lower() in ("true", "false"):
        return "bool"
    if text.lstrip()[:1] in ("[", "{"):
        return "list" if text.lstrip()[0] == "[" else "dict"
    try:
        float(text)
    except ValueError:
        return ""
    return "float"
