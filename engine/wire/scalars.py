"""One plain value of a declared simple type, from JSON or from text that a person typed.

`typed` tells the two apart: text at the top is read by the rules of its type (`3`, `yes`, `1.5e3`), while a string
inside a JSON list or object is a string. Nothing that could lose something is converted: a float is no int.
All functions raise Mismatch.
"""

from __future__ import annotations

import base64
import binascii
import math
from datetime import date, datetime, timedelta

from engine.wire.mistakes import Mismatch
from engine.wire.moments import (
    duration_from_seconds,
    duration_of,
    instant_of,
    parse_duration,
    parse_instant,
)

_TRUTHS = {"true": True, "t": True, "yes": True, "y": True, "on": True, "1": True} | {
    "false": False, "f": False, "no": False, "n": False, "off": False, "0": False
}  # fmt: skip
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How `natural` writes them, so accepted inside JSON too."""


def integer(value: object, typed: bool) -> int:
    if typed and isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            raise Mismatch from None
    if not isinstance(value, int) or isinstance(value, bool):
        raise Mismatch
    if not -(2**63) <= value < 2**63:
        raise Mismatch("beyond the 64 bits that Flyte keeps")
    return value


def floating(value: object, typed: bool) -> float:
    if isinstance(value, str):
        if value in NOT_FINITE:
            return NOT_FINITE[value]
        if not typed:
            raise Mismatch
        return _float_from_text(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Mismatch
    try:
        return float(value)
    except OverflowError:
        raise Mismatch("too large for a float") from None


def boolean(value: object, typed: bool) -> bool:
    if typed and isinstance(value, str):
        value = _TRUTHS.get(value.strip().lower())
    if not isinstance(value, bool):
        raise Mismatch("write true or false" if isinstance(value, str | int) or value is None else "")
    return value


def string(value: object) -> str:
    """Text that UTF-8 can hold (a lone surrogate comes from an argument in another encoding)."""
    if not isinstance(value, str):
        raise Mismatch("write it in quotes" if isinstance(value, bool | int | float) else "")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Mismatch("not valid Unicode") from None
    return str(value)


def instant(value: object) -> int:
    """Nanoseconds since the epoch."""
    if isinstance(value, datetime):
        return instant_of(value)
    if isinstance(value, date):
        return instant_of(datetime(value.year, value.month, value.day))
    if not isinstance(value, str):
        raise Mismatch("write it as text, such as 2024-05-17T09:30:00Z")
    try:
        return parse_instant(value)
    except ValueError as error:
        raise Mismatch(f"{error}; write it such as 2024-05-17T09:30:00Z or now") from None


def duration(value: object) -> int:
    """Nanoseconds; a number is seconds."""
    if isinstance(value, timedelta):
        return duration_of(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Mismatch("write seconds, or text such as 1h30m")
    try:
        return parse_duration(value) if isinstance(value, str) else duration_from_seconds(value)
    except ValueError as error:
        raise Mismatch(str(error)) from None


def binary(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise Mismatch("write them as base64 text")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Mismatch("no base64 text") from None


def nothing(value: object, typed: bool) -> None:
    if value is not None and not (typed and value in ("null", "None")):
        raise Mismatch


def _float_from_text(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise Mismatch from None
    if math.isinf(number) and any(digit.isdigit() for digit in text):
        raise Mismatch("too large for a float")
    return number
