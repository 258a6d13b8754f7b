"""Quantities of Kubernetes (`500m`, `1Gi`) as numbers, and the resources of containers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from engine.adapters.kubernetes.naming import Json
from engine.adapters.kubernetes.options import PodOptions
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.podneeds import GPU

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def quantity(text: str) -> Decimal:
    """Raises ValueError for what is no quantity."""
    number, factor = text, Decimal(1)
    if text[-2:] in _BINARY:
        number, factor = text[:-2], Decimal(1024) ** _BINARY[text[-2:]]
    elif text[-1:] in _DECIMAL:
        number, factor = text[:-1], Decimal(10) ** _DECIMAL[text[-1:]]
    try:
        found = Decimal(number) * factor
    except InvalidOperation:
        raise ValueError(f"{text!r} is no quantity; expected a number with a unit such as m, Mi or Gi") from None
    if not found.is_finite():
        raise ValueError(f"{text!r} is no quantity; expected a finite number")
    return found


def settle(
    container: Json, requests: Mapping[str, str], limits: Mapping[str, str], options: PodOptions, *, defaults: bool
) -> None:
    """The resources of a container: `requests` and `limits` over its own, then the defaults, then the operator's most.

    One stands for the other where that is missing; a request is never above its limit (FlytePropeller's rules). Raises
    Permanent (USER) for what is no quantity.
    """
    said = container.get("resources", {})
    least = _named({**said.get("requests", {}), **requests}, options)
    most = _named({**said.get("limits", {}), **limits}, options)
    try:
        for name in {**least, **most, **(options.requests if defaults else {})}:
            _settle_one(name, least, most, options, defaults=defaults)
    except ValueError as problem:
        message = f"the resources of its container can't be asked for: {problem}; nothing was started"
        raise Permanent(Failure("BadTaskSpecification", ErrorKind.USER, message)) from problem
    kept = {key: value for key, value in said.items() if key not in ("requests", "limits")}
    found = {**kept, **({"requests": least} if least else {}), **({"limits": most} if most else {})}
    if found:
        container["resources"] = found


def _settle_one(name: str, least: dict[str, str], most: dict[str, str], options: PodOptions, *, defaults: bool) -> None:
    request, limit = least.get(name) or most.get(name), most.get(name) or least.get(name)
    if defaults and request is None:
        request = limit = options.requests[name]
    ceiling = options.limits.get(name)
    if ceiling is not None and limit is not None and quantity(limit) > quantity(ceiling):
        limit = ceiling
    if request is None or limit is None:
        return
    least[name] = request if quantity(request) <= quantity(limit) else limit
    most[name] = limit


def _named(resources: Mapping[str, str], options: PodOptions) -> dict[str, str]:
    """With the operator's name for GPUs. Numbers in JSON are quantities, too."""
    return {options.gpu_resource if name == GPU else name: str(value) for name, value in resources.items()}
