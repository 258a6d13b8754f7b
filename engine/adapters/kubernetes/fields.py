"""What is wrong with a part of a manifest, by the types of Kubernetes' API, from which the client library is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from kubernetes_asyncio import __version__, client

KNOWN = f"Kubernetes as of kubernetes-asyncio {__version__}"
_QUANTITIES = {"limits", "requests", "overhead", "divisor", "sizeLimit"}
"""Fields that hold quantities, which may be written as numbers; the library calls them texts."""
_SCALARS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "int": ("a whole number", (int,)),
    "bool": ("true or false", (bool,)),
    "float": ("a number", (int, float)),
    "quantity": ("a quantity", (str, int, float)),
}
_AMOUNTS = {"str": "quantity", "dict(str, str)": "dict(str, quantity)"}


def mistakes(value: object, kind: str, path: str) -> Iterator[str]:
    """`kind`: as the library names it, `V1PodSpec` or `list[V1Toleration]`. Null means absent, as in Kubernetes."""
    if value is None or kind == "object":
        return
    if kind.startswith("list["):
        if not isinstance(value, list):
            yield _expected(path, "a list", value)
            return
        for place, item in enumerate(value):
            yield from mistakes(item, kind[5:-1], f"{path}[{place}]")
    elif kind.startswith("dict("):
        if not isinstance(value, Mapping):
            yield _expected(path, "a map", value)
            return
        for name, item in value.items():
            yield from mistakes(item, kind.partition(", ")[2][:-1], f"{path}.{name}")
    elif hasattr(client, kind):
        yield from _of_model(value, getattr(client, kind), path)
    else:
        yield from _scalar(value, kind, path)


def _of_model(value: object, model: type, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _expected(path, "a map", value)
        return
    kinds: Mapping[str, str] = model.openapi_types  # type: ignore[attr-defined]
    names: Mapping[str, str] = {name: field for field, name in model.attribute_map.items()}  # type: ignore[attr-defined]
    for name, item in value.items():
        if name in names:
            kind = kinds[names[name]]
            if name in _QUANTITIES:
                kind = _AMOUNTS.get(kind, kind)
            yield from mistakes(item, kind, f"{path}.{name}")
            continue
        near = get_close_matches(str(name), names, 1)
        yield f"{path}.{name}: {KNOWN} knows no such field" + (f"; did you mean {near[0]}?" if near else "")


def _scalar(value: object, kind: str, path: str) -> Iterator[str]:
    wanted, types = _SCALARS.get(kind, ("text", (str,)))
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield _expected(path, wanted, value)


def _expected(path: str, wanted: str, value: object) -> str:
    return f"{path}: expected {wanted}, not {value!r:.80}"
