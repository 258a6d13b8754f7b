"""What commands and a running engine say to each other, as bytes: msgpack maps, tagged by `do` and `is`.

Events travel in their own packed form, so that they pass the same check as any event that is read from a log.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from engine.model.errors import BadInput
from engine.model.events import Event, ExecutionSubmitted
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.wire import codec
from engine.wire.codec import Unreadable

MAX_BYTES = 64 * 1024 * 1024
"""Of one message: what bounds the inputs that a command can give."""


class Submit(Struct, frozen=True):
    """Start an execution; `inputs` is a serialized `LiteralMap`. Answered by Done once the submission is durable."""

    event: ExecutionSubmitted
    inputs: bytes = b""


class Send(Struct, frozen=True):
    """Append events. Answered by Done once they are durable."""

    events: tuple[Event, ...]


class Signal(Struct, frozen=True, tag="signal", tag_field="do"):
    """Answer gates; `value` is a serialized `Literal`. Answered by Done once that is durable."""

    execution: ExecutionId
    signal_id: str
    value: bytes


class Follow(Struct, frozen=True, tag="follow", tag_field="do"):
    """Answered by Moved now and after each commit that touches the execution or those below it, at last by Ended.

    At once by Ended, if it is terminal already. A client that reads slowly gets fewer of them, never older ones.
    """

    execution: ExecutionId


class Look(Struct, frozen=True, tag="look", tag_field="do"):
    """Something has changed that no event tells of: what is active. Answered by Done."""


class Replay(Struct, frozen=True, tag="replay", tag_field="do"):
    """Append the event of a dead letter again. Answered by Done once that is durable."""

    number: str


class Print(Struct, frozen=True, tag="print", tag_field="do"):
    """What has an attempt printed that runs elsewhere? Answered by Pieces, as many as there are, and Done."""

    key: AttemptKey


class Waits(Struct, frozen=True, tag="waits", tag_field="do"):
    """What do the queued tasks of an execution wait for? Answered by Told."""

    execution: ExecutionId


Request = Submit | Send | Signal | Follow | Look | Replay | Print | Waits


class Hello(Struct, frozen=True, tag="hello", tag_field="is"):
    """The first message to every client: an engine works here and takes requests."""

    process: int
    stays: bool = False
    """It is a service: whoever waits for it need not take its place when it stops."""


class Done(Struct, frozen=True, tag="done", tag_field="is"):
    """It is durable."""


class Moved(Struct, frozen=True, tag="moved", tag_field="is"):
    """There is something new to read in the log."""


class Ended(Struct, frozen=True, tag="ended", tag_field="is"):
    """The execution is terminal."""

    phase: ExecutionPhase


class Refused(Struct, frozen=True, tag="refused", tag_field="is"):
    """Nothing was done."""

    message: str
    mistake: bool
    """The caller's own (BadInput); else the engine could not do it."""


class Piece(Struct, frozen=True, tag="piece", tag_field="is"):
    """The next bytes of what was asked for."""

    data: bytes


class Told(Struct, frozen=True, tag="told", tag_field="is"):
    waits: dict[str, str]
    """By path, as what follows "waits for"."""


Reply = Hello | Done | Moved | Ended | Refused | Piece | Told


class _Submit(Struct, frozen=True, tag="submit", tag_field="do"):
    event: bytes
    inputs: bytes = b""


class _Send(Struct, frozen=True, tag="send", tag_field="do"):
    events: list[bytes]


_Wire = _Submit | _Send | Signal | Follow | Look | Replay | Print | Waits
_T = TypeVar("_T")
_REQUESTS: msgspec.msgpack.Decoder[_Wire] = msgspec.msgpack.Decoder(_Wire)
_REPLIES: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def pack_request(request: Request) -> bytes:
    """Raises BadInput for one above MAX_BYTES."""
    data = msgspec.msgpack.encode(_wire(request))
    if len(data) > MAX_BYTES:
        raise BadInput(
            f"the command takes {len(data)} bytes, more than the {MAX_BYTES} that can be handed to an engine; give "
            "large values as files; nothing was started"
        )
    return data


def unpack_request(data: bytes) -> Request:
    """Raises Unreadable."""
    found = _decoded(_REQUESTS, data, "a command")
    match found:
        case _Submit():
            event = codec.unpack_event(found.event)
            if not isinstance(event, ExecutionSubmitted):
                raise Unreadable(f"a submission can't be made of the event {type(event).__name__}")
            return Submit(event, found.inputs)
        case _Send():
            return Send(tuple(map(_event, found.events)))
        case Signal() | Follow() | Look() | Replay() | Print() | Waits():
            return found


def pack_reply(reply: Reply) -> bytes:
    return msgspec.msgpack.encode(reply)


def unpack_reply(data: bytes) -> Reply:
    """Raises Unreadable."""
    return _decoded(_REPLIES, data, "an answer of the engine")


def _event(data: bytes) -> Event:
    """What the machine knows; requests are for those who can't call the engine."""
    found = codec.unpack_event(data)
    if not isinstance(found, Event):
        raise Unreadable(f"{type(found).__name__} can't be sent by a command")
    return found


def _wire(request: Request) -> _Wire:
    match request:
        case Submit():
            return _Submit(codec.pack_event(request.event), request.inputs)
        case Send():
            return _Send([codec.pack_event(event) for event in request.events])
        case Signal() | Follow() | Look() | Replay() | Print() | Waits():
            return request


def _decoded(decoder: msgspec.msgpack.Decoder[_T], data: bytes, what: str) -> _T:
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"{what} can't be read ({len(data)} bytes): {error}") from error
