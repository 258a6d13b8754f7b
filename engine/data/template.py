"""The command of an attempt: template variables in a container's arguments, those of FlytePropeller 1.16."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import structs

from engine.data.inline import NoText, as_text
from engine.data.literals import entries
from engine.data.references import read_reference, reference_of
from engine.model import layout
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey, label
from engine.ports.blobstore import BlobStore

_VARIABLE = re.compile(r"\{\{\s*[.$]([^}\s]+)\s*\}\}")
_INPUTS = "inputs."
_TASK_TEMPLATE = "tasktemplatepath"
FAST_EXECUTE = "pyflyte-fast-execute"
LONGEST_VALUE = 128 * 1024
"""Bytes; the operating system takes no longer argument."""


def without_download(argv: Sequence[str]) -> tuple[str, ...]:
    """A fast-registered command without the part that fetches the code: for code that lies here already."""
    if argv and argv[0].rpartition("/")[2] == FAST_EXECUTE and "--" in argv:
        return tuple(argv[argv.index("--") + 1 :])
    return tuple(argv)


async def render(
    blobs: BlobStore, key: AttemptKey, task: TaskSpec, argv: Sequence[str], inputs: bytes
) -> tuple[str, ...]:
    """The command with every variable replaced; names are case-insensitive, a value is never rendered again.

    Raises Permanent (USER, FailedToBuildResource) for an unknown variable or an input that has no text form; Transient.
    """
    names = {name for argument in argv for name in _VARIABLE.findall(argument)}
    values = {name: await _rendered(blobs, key, task, name, inputs) for name in names}
    return tuple(_VARIABLE.sub(lambda found: values[found[1]], argument) for argument in argv)


async def _rendered(blobs: BlobStore, key: AttemptKey, task: TaskSpec, name: str, inputs: bytes) -> str:
    plain = name.lower()
    if plain.startswith(_INPUTS):
        return await _input(blobs, task, inputs, name)
    if plain not in _STANDARD:
        known = ", ".join(sorted(_STANDARD))
        raise _failed(f"the command of {task.id} uses {{{{ .{name} }}}}, which is not known; known are: {known}")
    value = _STANDARD[plain](blobs, key)
    if plain == _TASK_TEMPLATE:
        await blobs.put(value, task.template)
    return value


def _as_path(uri: str) -> str:
    """A plain path where the store is a folder: flytekit takes a file or directory of a `file://` URI for missing."""
    return uri.removeprefix("file://")


def _previous_checkpoint(blobs: BlobStore, key: AttemptKey) -> str:
    """Two quotes for a first attempt: what flytekit takes for none."""
    return blobs.uri(layout.checkpoint_prefix(structs.replace(key, attempt=key.attempt - 1))) if key.attempt else '""'


def _unique_name(blobs: BlobStore, key: AttemptKey) -> str:
    element = () if key.index is None else (str(key.node_attempt), str(key.index))
    return label(key.execution.name, key.path, *element, str(key.attempt))


_STANDARD: dict[str, Callable[[BlobStore, AttemptKey], str]] = {
    "input": lambda blobs, key: blobs.uri(layout.attempt_inputs(key)),
    "inputprefix": lambda blobs, key: blobs.uri(layout.attempt_inputs(key)).rpartition("/")[0],
    "outputprefix": lambda blobs, key: blobs.uri(layout.attempt_prefix(key)),
    "rawoutputdataprefix": lambda blobs, key: _as_path(blobs.uri(layout.raw_prefix(key))),
    "checkpointoutputprefix": lambda blobs, key: blobs.uri(layout.checkpoint_prefix(key)),
    "prevcheckpointprefix": _previous_checkpoint,
    "perretryuniquekey": _unique_name,
    _TASK_TEMPLATE: lambda blobs, key: blobs.uri(f"{layout.node_prefix(key.execution, key.path)}/task.pb"),
    "namespace": lambda blobs, key: f"{key.execution.project}-{key.execution.domain}",
}
"""The variables that every command may use, by lower-case name."""


async def _input(blobs: BlobStore, task: TaskSpec, inputs: bytes, name: str) -> str:
    where = f"the command of {task.id} uses {{{{ .{name} }}}}"
    given = entries(inputs)
    variable = name[len(_INPUTS) :]
    if variable not in given:
        raise _failed(f"{where}, but there is no such input; there are: {', '.join(given) or 'none'}")
    literal = given[variable]
    reference = reference_of(literal)
    if reference is not None:
        if reference.size_bytes > LONGEST_VALUE:
            raise _failed(f"{where}: {reference.size_bytes} bytes are too long for a command, {LONGEST_VALUE} may be")
        literal = await read_reference(blobs, reference)
    try:
        return as_text(literal)
    except NoText as problem:
        raise _failed(f"{where}, which is {problem} and has no text form") from problem


def _failed(message: str) -> Permanent:
    return Permanent(Failure(code="FailedToBuildResource", kind=ErrorKind.USER, message=message))
