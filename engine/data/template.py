"""The command of an attempt: template variables in a container's arguments (behaviour reference 3.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
    values = standard(blobs, key)
    if any(name.lower() == _TASK_TEMPLATE for name in names):
        await blobs.put(values[_TASK_TEMPLATE], task.template)
    for name in names:
        if name.lower().startswith(_INPUTS):
            values[name.lower()[: len(_INPUTS)] + name[len(_INPUTS) :]] = await _input(blobs, task, inputs, name)
    return tuple(_VARIABLE.sub(lambda found: _value(task, values, found[1]), argument) for argument in argv)


def standard(blobs: BlobStore, key: AttemptKey) -> dict[str, str]:
    """The variables that every command may use, by lower-case name."""
    previous = AttemptKey(key.execution, key.path, key.attempt - 1, key.index, key.node_attempt)
    inputs = blobs.uri(layout.attempt_inputs(key))
    index = () if key.index is None else (str(key.node_attempt), str(key.index))
    return {
        "input": inputs,
        "inputprefix": inputs.rpartition("/")[0],
        "outputprefix": blobs.uri(layout.attempt_prefix(key)),
        "rawoutputdataprefix": blobs.uri(layout.raw_prefix(key)),
        "checkpointoutputprefix": blobs.uri(layout.checkpoint_prefix(key)),
        "prevcheckpointprefix": blobs.uri(layout.checkpoint_prefix(previous)) if key.attempt else '""',
        "perretryuniquekey": label(key.execution.name, key.path, *index, str(key.attempt)),
        _TASK_TEMPLATE: blobs.uri(f"{layout.node_prefix(key.execution, key.path)}/task.pb"),
        "namespace": f"{key.execution.project}-{key.execution.domain}",
    }


def _value(task: TaskSpec, values: Mapping[str, str], name: str) -> str:
    if name.lower().startswith(_INPUTS):
        return values[name.lower()[: len(_INPUTS)] + name[len(_INPUTS) :]]
    if name.lower() not in values:
        known = ", ".join(sorted(values))
        raise _failed(f"the command of {task.id} uses {{{{ .{name} }}}}, which is not known; known are: {known}")
    return values[name.lower()]


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
