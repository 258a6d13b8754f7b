"""The events that anybody may publish, beside the msgpack that engines write: JSON, and what is checked more strictly.

What people write is refused where it holds a key that nobody reads: a misspelt option must not be passed over. Events
that engines write to each other are not so strict, so that engines of two versions get on with each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct, structs

from engine.model.errors import BadInput
from engine.model.events import AbortRequested, NodeRetryRequested
from engine.model.ids import DNS_LABEL, ExecutionId
from engine.model.requests import ExecutionRequested, SignalGiven

JSON = "application/json"
MSGPACK = "application/msgpack"
PUBLIC = (ExecutionRequested, AbortRequested, SignalGiven, NodeRetryRequested)
"""What anybody may publish; all other events are an engine's own."""
INTERNAL: Mapping[type[Struct], tuple[str, ...]] = {AbortRequested: ("parent",)}
"""Fields of public events that only engines fill in."""
REQUEST_BYTES = 1024 * 1024
"""The most that one public event takes. Larger inputs lie in the store."""
REQUEST_CHARACTERS = 128
"""Of what an asker calls a request."""
DEEPEST = 100
"""Levels of lists and maps in one another that an event may have."""
_TAGS = tuple(str(noun.__struct_config__.tag) for noun in PUBLIC)

Fields = dict[str, object]


class Unreadable(BadInput):
    """Bytes that are no event, state or fact of a version that this engine reads."""

    code = "Unreadable"


def read_json(data: bytes) -> Fields:
    """Of a key that comes twice the last one counts. Raises Unreadable."""
    try:
        fields = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"an event can't be read: {len(data)} bytes are no JSON ({error})") from error
    if not isinstance(fields, dict):
        raise Unreadable(f"an event can't be read: expected a JSON object, got {type(fields).__name__}")
    return fields


def check(fields: Fields, noun: type[Struct]) -> None:
    """Raises Unreadable for an event that only engines write, for keys that nobody reads, and for odd values."""
    if noun not in PUBLIC:
        tag = noun.__struct_config__.tag
        raise Unreadable(f"an event can't be read: {tag} is an engine's own; expected one of {', '.join(_TAGS)}")
    unknown = list(_unknown({key: value for key, value in fields.items() if key not in ("v", "type")}, noun, ""))
    if unknown:
        raise Unreadable(f"an event can't be read: nobody reads {', '.join(unknown[:10])}")
    if not _is_shallow(fields):
        raise Unreadable(f"an event can't be read: it has more than {DEEPEST} levels")


def _unknown(fields: Mapping[object, object], noun: type[Struct], place: str) -> Iterator[str]:
    known = {field.encode_name: field.type for field in structs.fields(noun)}
    for key, value in fields.items():
        kind = known.get(key) if isinstance(key, str) and key not in INTERNAL.get(noun, ()) else None
        if kind is None:
            yield f"{place}{key!r:.100}"
        elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
            yield from _unknown(value, kind, f"{place}{key}.")


def _is_shallow(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _parts(outer)]
        if not level:
            return True
    return False


def _parts(value: object) -> list[object]:
    """What lies inside that may have parts itself."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [part for part in inner if isinstance(part, dict | list | tuple)]


def fingerprint(asked: ExecutionRequested) -> str:
    """Equal for the same request (SHA-256, hex). Raises BadInput for values that no JSON document holds."""
    try:
        data = msgspec.msgpack.encode(structs.replace(asked, request=""), order="deterministic")
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(f"its values are not plain text, numbers, lists and maps: {error}") from error
    return hashlib.sha256(data).hexdigest()


def refuse_odd(asked: ExecutionRequested, size: int) -> None:
    """`size`: bytes of the event. Raises BadInput for what can be told from the request alone."""
    problems = [*_bad_labels(asked.execution)]
    if size > REQUEST_BYTES:
        problems.append(f"it has {size} bytes, more than {REQUEST_BYTES}; give large inputs by `inputs_uri`")
    if len(asked.request) > REQUEST_CHARACTERS:
        problems.append(f"`request` has {len(asked.request)} characters, more than {REQUEST_CHARACTERS}")
    if asked.inputs and asked.inputs_uri:
        problems.append("it has both `inputs` and `inputs_uri`, expected one of them")
    if problems:
        raise BadInput(f"{'; '.join(problems)}; nothing was started")


def is_named(execution: ExecutionId) -> bool:
    """Whether an execution can be called that."""
    return not any(_bad_labels(execution))


def _bad_labels(execution: ExecutionId) -> Iterator[str]:
    for what in ("project", "domain", "name"):
        text = getattr(execution, what)
        if not DNS_LABEL.match(text):
            yield (f"{what} {text!r:.100} is no DNS label: 1 to 63 of a-z, 0-9 and '-', neither first nor last a dash")
