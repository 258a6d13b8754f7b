"""Lays an author's pod over a pod template, as FlytePropeller does: values win, lists are put behind one another."""

from __future__ import annotations

from typing import Any

from engine.adapters.kubernetes.naming import Json

_BY_NAME = {"env", "volumeMounts", "volumes", "imagePullSecrets", "containers", "initContainers"}
"""Lists of Kubernetes whose items have names of their own: the later one of a name wins."""
_SPECIAL = ("default", "primary", "default-init", "primary-init")
"""Containers of a template that stand for others."""


def merged(base: Any, over: Any, field: str = "") -> Any:
    """Neither is changed."""
    if isinstance(base, dict) and isinstance(over, dict):
        both = {key: merged(base[key], over[key], key) for key in base if key in over}
        return {**base, **over, **both}
    if isinstance(base, list) and isinstance(over, list) and field not in ("command", "args"):
        return _joined(base, over, field)
    return over


def _joined(base: list[Any], over: list[Any], field: str) -> list[Any]:
    if field not in _BY_NAME:
        return [*base, *(item for item in over if item not in base)]
    identity = "mountPath" if field == "volumeMounts" else "name"
    names = {item.get(identity) for item in over}
    return [*(item for item in base if item.get(identity) not in names), *over]


def laid_over(template: Json, own: Json, primary: str) -> Json:
    """The pod spec `own` over a template's. `primary`: the container of `own` that runs the task."""
    if not template:
        return own
    plain = {key: value for key, value in template.items() if key not in ("containers", "initContainers")}
    spec: Json = merged(
        plain, {key: value for key, value in own.items() if key not in ("containers", "initContainers")}
    )
    for kind, suffix in (("containers", ""), ("initContainers", "-init")):
        theirs = {it["name"]: it for it in template.get(kind, [])}
        mine = own.get(kind, [])
        found = [_based(theirs, it, suffix, first=it["name"] == primary or bool(suffix)) for it in mine]
        taken = {it["name"] for it in mine} | set(_SPECIAL)
        found += [it for name, it in theirs.items() if name not in taken]
        if found:
            spec[kind] = found
    return spec


def _based(theirs: dict[str, Json], own: Json, suffix: str, *, first: bool) -> Json:
    bases = [f"default{suffix}", *([f"primary{suffix}"] if first else []), own["name"]]
    found: Json = {}
    for name in dict.fromkeys(bases):
        if name in theirs:
            found = merged(found, theirs[name])
    both: Json = merged(found, own)
    return both
