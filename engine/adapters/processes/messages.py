"""What the engine and a zygote say to each other, on the engine's side (zygote.py documents every message)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct


class Start(Struct, frozen=True):
    """One command to be run, and where what it prints goes (paths)."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    stdout: str
    stderr: str
    log_limit: int
    """Bytes kept of each stream."""


class Ready(Struct, frozen=True, tag="ready", tag_field="op"):
    problem: str
    modules: frozenset[str]


class Started(Struct, frozen=True, tag="started", tag_field="op"):
    id: int
    pid: int
    at: float


class Failed(Struct, frozen=True, tag="failed", tag_field="op"):
    id: int
    errno: int
    message: str


class Ended(Struct, frozen=True, tag="ended", tag_field="op"):
    id: int
    status: int
    at: float
    maxrss: int
    tail: str
    left_behind: int
    log_problem: str


Message = Ready | Started | Failed | Ended

_decoder = msgspec.json.Decoder(Message)


def start_frame(job: int, start: Start) -> bytes:
    return _frame({"op": "start", "id": job, **msgspec.structs.asdict(start)})


def signal_frame(job: int, number: int) -> bytes:
    return _frame({"op": "signal", "id": job, "signal": number})


def _frame(message: Mapping[str, object]) -> bytes:
    # Not msgspec: an environment variable that is not UTF-8 is a string with lone surrogates, which it refuses.
    data = json.dumps(message, default=dict).encode()
    return len(data).to_bytes(4, "big") + data


class Unframer:
    """Cuts a byte stream into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        self._buffer += data
        while len(self._buffer) >= (end := 4 + int.from_bytes(self._buffer[:4], "big")):
            message = _decoder.decode(self._buffer[4:end])
            del self._buffer[:end]
            yield message
