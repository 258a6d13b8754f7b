"""Echo tasks: the engine itself gives the inputs back, and nothing is started.

The message does not keep the author's order of the inputs, so they are taken by name: the first in alphabetical order
whose type is that of the first output, and so on. FlytePropeller's echo plugin refuses more than one input.
"""

from __future__ import annotations

import re

from engine.data.framing import Data
from engine.data.literals import entries, literal_map
from engine.data.recent import remember
from engine.model import layout
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.events import AttemptSucceeded
from engine.model.graph import Interface, TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.blobstore import BlobStore

ECHO = "echo"
_NUMBER = re.compile(r"(\d+)")


async def echo(blobs: BlobStore, key: AttemptKey, task: TaskSpec, inputs: bytes) -> AttemptSucceeded:
    """Store the inputs, and again as the outputs. Raises Permanent (USER) where they don't match; Transient."""
    inputs_uri, uri = blobs.uri(layout.attempt_inputs(key)), blobs.uri(layout.outputs(key))
    outputs = _echoed(task, entries(inputs))
    await blobs.put(inputs_uri, inputs)
    await blobs.put(uri, outputs)
    remember(blobs, uri, outputs)
    return AttemptSucceeded(key, uri, inputs_uri=inputs_uri)


def _echoed(task: TaskSpec, given: dict[str, Data]) -> bytes:
    pairs = paired(task.interface)
    missing = [name for name in pairs.values() if name not in given]
    if len(pairs) < len(task.interface.outputs) or missing:
        what = f"input {missing[0]!r} is not given" if missing else "its outputs are not of its inputs' types"
        raise Permanent(Failure("BadTaskFormat", ErrorKind.USER, f"{task.id} can't echo its inputs: {what}"))
    return literal_map({output: given[name] for output, name in pairs.items()})


def paired(face: Interface) -> dict[str, str]:
    """Output -> input. An output that no input is left for is missing from it."""
    left = sorted(face.inputs)
    found = {}
    for output in sorted(face.outputs, key=_natural):
        name = next((name for name in left if face.inputs[name] == face.outputs[output]), None)
        if name is not None:
            left.remove(name)
            found[output] = name
    return found


def _natural(name: str) -> list[tuple[int, str]]:
    """o2 before o10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(name)]
