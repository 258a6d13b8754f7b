"""Ready scripts for the NoopRunner: what attempts do, and ways to put scripts together."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from inspect import isawaitable

import anyio

from engine.adapters.memory.runner import Script
from engine.data.framing import fields, framed, text
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

SUCCESS = Exit(ExitReason.EXITED, 0)
_ZERO = bytes.fromhex("0a040a020800")
"""A Literal with the integer 0."""
_ENTRY, _KEY, _VALUE = 0x0A, 0x0A, 0x12
"""Tags of LiteralMap.literals and of its entries."""
_COLLECTION, _ITEM = 0x12, 0x0A
"""Tags of Literal.collection and LiteralCollection.literals."""


def exits(code: int) -> Script:
    """Ends with this exit status, and writes nothing."""
    return lambda _: Exit(ExitReason.EXITED, code)


def ends(how: Exit) -> Script:
    return lambda _: how


async def hangs(request: TaskRequest) -> Exit:
    """Runs until it is stopped."""
    await anyio.sleep_forever()
    raise AssertionError("forever ended")


def takes(seconds: float, then: Script) -> Script:
    async def play(request: TaskRequest) -> Exit:
        await anyio.sleep(seconds)
        return await _played(then, request)

    return play


def copies(blobs: BlobStore) -> Script:
    """Does nothing, but reads and writes as a task does: the k-th declared output is the k-th input, else the number 0.

    An element of a map gives the item of its one-item list.
    """

    async def play(request: TaskRequest) -> Exit:
        declared = tuple(request.task.interface.outputs)
        outputs = b""
        if declared:
            values = literals(await blobs.get(inputs_uri(request)))
            given = [values[name] for name in request.task.interface.inputs if name in values]
            chosen = [*given, *[_ZERO] * len(declared)]
            if request.key.index is not None:
                chosen = [item(value) for value in chosen]
            outputs = literal_map(dict(zip(declared, chosen, strict=False)))
        await blobs.put(f"{request.prefix_uri}/outputs.pb", outputs)
        return SUCCESS

    return play


def gives(blobs: BlobStore, outputs: bytes) -> Script:
    """Writes this `LiteralMap` (serialized) as its outputs."""

    async def play(request: TaskRequest) -> Exit:
        await blobs.put(f"{request.prefix_uri}/outputs.pb", outputs)
        return SUCCESS

    return play


def plans(blobs: BlobStore, futures: bytes) -> Script:
    """Leaves this plan (a serialized `DynamicJobSpec`), as a @dynamic task does."""

    async def play(request: TaskRequest) -> Exit:
        await blobs.put(f"{request.prefix_uri}/futures.pb", futures)
        return SUCCESS

    return play


def raises(blobs: BlobStore, message: str, *, recoverable: bool = False, system: bool = False) -> Script:
    """Writes the error document that flytekit writes for an exception, and exits with 0 as flytekit does."""
    origin = "SYSTEM" if system else "USER"
    code = origin if system else "USER:Recoverable" if recoverable else "USER:RuntimeError"
    error = framed(0x0A, code.encode()) + framed(0x12, message.encode())
    error += bytes((0x18, int(recoverable), 0x20, 2 if system else 1))
    document = framed(0x0A, error)

    async def play(request: TaskRequest) -> Exit:
        await blobs.put(f"{request.prefix_uri}/error.pb", document)
        return SUCCESS

    return play


def by_attempt(*scripts: Script) -> Script:
    """The first script for attempt 0, the next for attempt 1 and so on; the last one for all that follow."""
    return lambda request: scripts[min(request.key.attempt, len(scripts) - 1)](request)


def by_node(scripts: Mapping[str, Script], otherwise: Script) -> Script:
    """By node path, `n1[3]` for a map element (or `n1` for all of them)."""

    def play(request: TaskRequest) -> Exit | Awaitable[Exit]:
        path, index = request.key.path, request.key.index
        script = scripts.get(f"{path}[{index}]") or scripts.get(path) or otherwise
        return script(request)

    return play


def inputs_uri(request: TaskRequest) -> str:
    """What flytekit's commands get as --inputs. Raises ValueError: the command has no such argument."""
    return request.argv[request.argv.index("--inputs") + 1]


def literals(data: bytes) -> dict[str, bytes]:
    """A serialized `LiteralMap` as serialized literals by name."""
    found: dict[str, bytes] = {}
    for _, _, start, end in fields(data):
        name, value = "", b""
        for tag, _, inner, stop in fields(data, start, end):
            if tag == _KEY:
                name = text(data[inner:stop])
            elif tag == _VALUE:
                value = data[inner:stop]
        found[name] = value
    return found


def literal_map(values: Mapping[str, bytes]) -> bytes:
    """The reverse of `literals`."""
    entries = (framed(_KEY, name.encode()) + framed(_VALUE, value) for name, value in values.items())
    return b"".join(framed(_ENTRY, entry) for entry in entries)


def item(literal: bytes) -> bytes:
    """The first item of a collection; any other literal as it is."""
    for tag, _, start, end in fields(literal):
        if tag == _COLLECTION:
            for inner, _, first, last in fields(literal, start, end):
                if inner == _ITEM:
                    return literal[first:last]
    return literal


async def _played(script: Script, request: TaskRequest) -> Exit:
    played = script(request)
    return await played if isawaitable(played) else played
