"""One field of a dataclass or pydantic model that is neither a list nor an object of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time

from engine.wire import scalars
from engine.wire.mistakes import Mismatch, shown
from engine.wire.moments import SECOND, seconds_number
from engine.wire.natural import Json
from engine.wire.places import Place

Shaped = None | bool | int | float | str | bytes | list["Shaped"] | dict[str | int, "Shaped"]
_PLACES = {
    "FlyteFile": ("path", Place.FILE),
    "FlyteDirectory": ("path", Place.DIRECTORY),
    "StructuredDataset": ("uri", Place.EITHER),
}
"""Types that flytekit writes as an object: its title, the field that holds the URI, what must be there."""


def place_of(schema: Mapping[str, Json]) -> tuple[str, Place] | None:
    """The URI's field and the kind, of a schema that stands for a file, directory or data set."""
    title, properties = schema.get("title"), schema.get("properties")
    known = _PLACES.get(title) if isinstance(title, str) else None
    return known if known and isinstance(properties, dict) and known[0] in properties else None


def field(value: object, schema: Mapping[str, Json]) -> Shaped:
    """Raises Mismatch with the reason."""
    if "enum" in schema or "const" in schema:
        return _member(value, schema["enum"] if "enum" in schema else [schema["const"]])
    match schema.get("type"):
        case "string":
            return _text(value, schema.get("format"))
        case "integer":
            return scalars.integer(value, typed=False)
        case "number" if schema.get("format") == "time-delta":
            return float(seconds_number(scalars.duration(value)))
        case "number":
            return scalars.floating(value, typed=False)
        case "boolean":
            return scalars.boolean(value, typed=False)
        case "null":
            scalars.nothing(value, typed=False)
            return None
    raise Mismatch("not JSON")


def key(value: object, schema: Mapping[str, Json]) -> str | int:
    """A key of a dict: text, or a whole number where the schema says so (JSON can only write it as text)."""
    if schema.get("type") == "integer":
        try:
            return scalars.integer(value, typed=True)
        except Mismatch:
            raise Mismatch(f"a whole number, got {shown(value)}") from None
    if isinstance(value, int) and not isinstance(value, bool):
        return scalars.integer(value, typed=False)
    try:
        return scalars.string(value)
    except Mismatch:
        raise Mismatch(f"text, got {shown(value)}") from None


def _text(value: object, form: Json) -> Shaped:
    """A string in the form that mashumaro (dataclasses) or pydantic reads."""
    match form:
        case "base64":
            return scalars.binary(value)
        case "duration":
            return _iso_duration(scalars.duration(value))
        case "date-time" | "date" | "time" if not isinstance(value, date):
            return _iso_moment(scalars.string(value), form)
        case "date-time" | "date" if isinstance(value, date):
            return value.isoformat()
    return scalars.string(value)


def _iso_moment(text: str, form: str) -> str:
    """Checked, and with `+00:00` for `Z`, which Python before 3.11 can't read."""
    try:
        match form:
            case "date":
                return date.fromisoformat(text).isoformat()
            case "time":
                return time.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat()
    except ValueError as error:
        raise Mismatch(str(error)) from None


def _iso_duration(nanoseconds: int) -> str:
    sign, nanoseconds = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    seconds, nanos = divmod(nanoseconds, SECOND)
    return f"{sign}PT{seconds}{f'.{nanos:09}'.rstrip('0') if nanos else ''}S"


def _member(value: object, allowed: Json) -> Shaped:
    for member in allowed if isinstance(allowed, list) else []:
        if isinstance(member, list | dict):
            continue
        if member == value and isinstance(member, bool) == isinstance(value, bool):
            return member
    raise Mismatch(f"it must be one of {', '.join(map(shown, allowed if isinstance(allowed, list) else []))}")
