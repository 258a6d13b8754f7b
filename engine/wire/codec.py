"""Events, states and history as bytes: msgpack maps with readable keys, a version number `v`, bytes kept raw.

Unknown keys are ignored and missing ones take their defaults, so a field may be added without a new version. A version
goes up when old bytes would be misread; the upcast from the version before is then added to the kind's table below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar, get_args

import msgpack
import msgspec
from msgspec import Struct, convert, to_builtins

from engine.model.errors import BadInput, Defect
from engine.model.events import VERSION as EVENT_VERSION
from engine.model.events import Event, Incoming
from engine.model.ids import ExecutionId
from engine.model.requests import Asked
from engine.model.state import Execution, Fact, Node
from engine.ports.eventlog import CONTENT_TYPE, DeadLetter, Headers, Record
from engine.wire import publicform
from engine.wire.publicform import JSON, MSGPACK, REQUEST_CHARACTERS, Fields, Unreadable

STATE_VERSION = 1
"""Version of packed executions, nodes, facts and dead letters."""

Upcasts = Mapping[int, Callable[[Fields], Fields]]
"""Version -> how a map of that version becomes one of the next."""

EVENT_UPCASTS: Upcasts = {}
STATE_UPCASTS: Upcasts = {}

_RAW = (bytes,)
_T = TypeVar("_T", bound=Struct)


__all__ = ["Fields", "Unreadable"]


def pack_event(event: Incoming) -> bytes:
    """Raises Defect for a value that msgpack can't hold, as every `pack_` here."""
    return _pack(event, EVENT_VERSION)


def unpack_event(data: bytes, content_type: str = MSGPACK) -> Incoming:
    """Raises Unreadable, as every `unpack_` here."""
    if content_type == JSON:
        fields = _current("event", publicform.read_json(data), EVENT_VERSION, EVENT_UPCASTS)
    elif content_type == MSGPACK:
        fields = _unpack("event", data, EVENT_VERSION, EVENT_UPCASTS)
    else:
        raise Unreadable(
            f"an event can't be read: its content-type is {content_type!r:.100}; expected {MSGPACK} or {JSON}"
        )
    tag = fields.get("type")
    # msgspec rebuilds its plan for a union at each call (ten times the cost), so the tag picks the class here.
    noun = _EVENTS.get(tag) if isinstance(tag, str) else None
    if noun is None:
        raise Unreadable(f"an event can't be read: its type is {tag!r:.100}; expected one of {', '.join(_EVENTS)}")
    if content_type == JSON or noun in _ASKED:
        publicform.check(fields, noun)
    # In JSON, bytes are base64.
    return _shape("event", fields, noun, () if content_type == JSON else _RAW)


def pack_execution(execution: Execution) -> bytes:
    return _pack(execution, STATE_VERSION)


def unpack_execution(data: bytes) -> Execution:
    return _state("execution", data, Execution)


def pack_node(node: Node) -> bytes:
    return _pack(node, STATE_VERSION)


def unpack_node(data: bytes) -> Node:
    return _state("node", data, Node)


def pack_fact(fact: Fact) -> bytes:
    return _pack(fact, STATE_VERSION)


def unpack_fact(data: bytes) -> Fact:
    return _state("fact", data, Fact)


def pack_dead_letter(letter: DeadLetter) -> bytes:
    return _pack(letter, STATE_VERSION)


def unpack_dead_letter(data: bytes) -> DeadLetter:
    return _state("dead letter", data, DeadLetter)


def unpack_record(offset: int, data: bytes, headers: Headers = ()) -> Record:
    """The record of an event's bytes; never raises, its `problem` says why there is no event."""
    try:
        return Record(offset, unpack_event(data, _content_type(headers) if headers else MSGPACK), data, "", headers)
    except Unreadable as problem:
        return Record(offset, None, data, str(problem), headers)


def addressed(data: bytes, headers: Headers = ()) -> tuple[ExecutionId, str] | None:
    """The execution that bytes name which are no event of this version, and what the asker has called the request.

    None where that can't be read, and for what only engines write: nobody waits for an answer to it.
    """
    try:
        fields = publicform.read_json(data) if _content_type(headers) == JSON else msgpack.unpackb(data)
        noun = _EVENTS.get(str(fields.get("type")))
        execution = convert(fields.get("execution"), ExecutionId)
    except (ValueError, TypeError, AttributeError, RecursionError, BadInput, msgpack.UnpackException):
        return None
    if (noun is not None and noun not in publicform.PUBLIC) or not publicform.is_named(execution):
        return None
    request = fields.get("request")
    return execution, request if isinstance(request, str) and len(request) <= REQUEST_CHARACTERS else ""


def _content_type(headers: Headers) -> str:
    found = [value.decode(errors="replace") for name, value in headers if name.lower() == CONTENT_TYPE]
    return found[-1].partition(";")[0].strip().lower() if found else MSGPACK


class _Versioned(Struct):
    v: int


_ASKED: tuple[type[Asked], ...] = get_args(Asked)
_EVENTS: Mapping[str, type[Incoming]] = {str(noun.__struct_config__.tag): noun for noun in (*_ASKED, *get_args(Event))}


_encoder = msgspec.msgpack.Encoder()
_MORE_KEYS = {0x80 + count: bytes((0x81 + count,)) for count in range(15)}
_version_of = msgspec.msgpack.Decoder(_Versioned)


def _pack(noun: Struct, version: int) -> bytes:
    try:
        packed = _encoder.encode(noun)
    except (ValueError, TypeError, OverflowError):
        return _pack_odd(noun, version)
    # One more key: the header counts the keys, in half a byte or in two bytes.
    if packed[0] < 0x8F:
        return _MORE_KEYS[packed[0]] + packed[1:] + _version_key(version)
    count, begin = (15, 1) if packed[0] == 0x8F else (int.from_bytes(packed[1:3], "big"), 3)
    return b"".join((b"\xde", (count + 1).to_bytes(2, "big"), packed[begin:], _version_key(version)))


@cache
def _version_key(version: int) -> bytes:
    return bytes(msgpack.packb("v") + msgpack.packb(version))


def _pack_odd(noun: Struct, version: int) -> bytes:
    """What msgspec can't pack: a file name or output that is no valid UTF-8 came in as lone surrogates, and stays."""
    try:
        fields: Fields = to_builtins(noun, builtin_types=_RAW)
        fields["v"] = version
        packed: bytes = msgpack.packb(fields, unicode_errors="surrogatepass")
    except (ValueError, TypeError, OverflowError) as error:
        raise Defect(f"{type(noun).__name__} can't be packed ({error}): {noun!r:.500}") from error
    return packed


def _state(what: str, data: bytes, noun: type[_T]) -> _T:
    """A noun of STATE_VERSION from its bytes; the long way round only where something is odd."""
    try:
        found = _decoder(noun).decode(data) if _version_of.decode(data).v == STATE_VERSION else None
    except ValueError:
        found = None
    return found or _shape(what, _unpack(what, data, STATE_VERSION, STATE_UPCASTS), noun)


@cache
def _decoder(noun: type[_T]) -> msgspec.msgpack.Decoder[_T]:
    return msgspec.msgpack.Decoder(noun)


def _unpack(what: str, data: bytes, version: int, upcasts: Upcasts) -> Fields:
    """The map in `data`, brought up to `version`."""
    try:
        fields = msgpack.unpackb(data, unicode_errors="surrogatepass")
    except (ValueError, TypeError, RecursionError) as error:
        problem = str(error) or type(error).__name__
        raise Unreadable(f"{_an(what)} can't be read: {len(data)} bytes are no msgpack map ({problem})") from error
    if not isinstance(fields, dict):
        raise Unreadable(f"{_an(what)} can't be read: expected a msgpack map, got {type(fields).__name__}")
    return _current(what, fields, version, upcasts)


def _current(what: str, fields: Fields, version: int, upcasts: Upcasts) -> Fields:
    found = fields.get("v")
    if found == version and type(found) is int:
        return fields
    return _upcast(what, fields, found, version, upcasts)


def _upcast(what: str, fields: Fields, found: object, version: int, upcasts: Upcasts) -> Fields:
    if type(found) is not int:
        raise Unreadable(f"{_an(what)} can't be read: expected a whole number as its version `v`, got {found!r:.100}")
    if found > version:
        raise Unreadable(f"{_an(what)} of version {found} can't be read: this engine reads versions up to {version}")
    for step in range(found, version):
        if step not in upcasts:
            raise Unreadable(f"{_an(what)} of version {found} can't be read: there is no upcast from version {step}")
        fields = upcasts[step](fields)
    return fields


def _shape(what: str, fields: Fields, noun: type[_T], raw: tuple[type, ...] = _RAW) -> _T:
    try:
        return convert(fields, noun, builtin_types=raw)
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable(f"{_an(what)} can't be read: {error}") from error


def _an(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
