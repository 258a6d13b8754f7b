"""The command of an attempt: template variables in a container's arguments, those of FlytePropeller 1.16."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct, structs

from engine.data.dollars import escaped
from engine.data.inline import NoText, as_text
from engine.data.literals import entries
from engine.data.references import read_reference, reference_of
from engine.model import layout
from engine.model.effects import Origin
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind, label
from engine.ports.blobstore import BlobStore

_VARIABLE = re.compile(r"\{\{\s*[.$]([^}\s]+)\s*\}\}")
_REMOTE = re.compile(r"\{\{\s*\.remote_package_path\s*\}\}")
_INPUTS = "inputs."
_TASK_TEMPLATE = "tasktemplatepath"
FAST_EXECUTE = "pyflyte-fast-execute"
NOWHERE = Origin(EntityId(EntityKind.WORKFLOW, "", "", "", ""), EntityId(EntityKind.WORKFLOW, "", "", "", ""), "")
"""Raw data goes to the store's own folder, and no attempt came before."""
LONGEST_VALUE = 128 * 1024
"""Bytes; the operating system takes no longer argument."""


def without_download(argv: Sequence[str]) -> tuple[str, ...]:
    """A fast-registered command without the part that fetches the code: for code that lies here already."""
    if argv and argv[0].rpartition("/")[2] == FAST_EXECUTE and "--" in argv:
        return tuple(argv[argv.index("--") + 1 :])
    return tuple(argv)


def unfilled(argv: Sequence[str]) -> bool:
    """Nobody has said from where a fast-registered command is to fetch its code."""
    return any(_REMOTE.search(word) for word in argv)


async def render(
    blobs: BlobStore,
    key: AttemptKey,
    task: TaskSpec,
    argv: Sequence[str],
    inputs: bytes,
    origin: Origin = NOWHERE,
    *,
    expands: bool = False,
) -> tuple[str, ...]:
    """The command with every variable replaced; names are case-insensitive, a value is never rendered again.

    `origin`: says where raw data goes, and whose checkpoint a first attempt gets. `expands`: whoever gets the command
    expands it as Kubernetes does.
    Raises Permanent (USER, FailedToBuildResource) for an unknown variable or an input that has no text form; Transient.
    """
    names, arguments = _parsed(tuple(argv))
    place = _Place(blobs, key, origin.overrides.raw_output_prefix, origin.previous)
    values = {}
    for name in names:
        standard = _STANDARD.get(name.lower())
        values[name] = await _rendered(place, task, name, inputs) if standard is None else standard(place)
    return tuple([it if isinstance(it, str) else it.filled(values, expands=expands) for it in arguments])


class _Argument(Struct, frozen=True):
    """An argument with variables in it."""

    parts: tuple[str, ...]
    """Plain text and the names of variables by turns."""

    def filled(self, values: Mapping[str, str], *, expands: bool) -> str:
        parts = [values[part] if place % 2 else part for place, part in enumerate(self.parts)]
        return escaped(parts) if expands else "".join(parts)


@lru_cache(maxsize=256)
def _parsed(argv: tuple[str, ...]) -> tuple[frozenset[str], tuple[str | _Argument, ...]]:
    """The names of all variables, and the arguments."""
    split = [_VARIABLE.split(argument) for argument in argv]
    names = frozenset(name for parts in split for name in parts[1::2])
    return names, tuple(parts[0] if len(parts) == 1 else _Argument(tuple(parts)) for parts in split)


@dataclass(frozen=True, slots=True)
class _Place:
    """An attempt, and where it may put what."""

    blobs: BlobStore
    key: AttemptKey
    raw_root: str
    previous: AttemptKey | None

    def raw(self, key: AttemptKey) -> str:
        """The folder of an attempt's raw data."""
        if self.raw_root:
            return f"{self.raw_root.rstrip('/')}/{layout.raw_folder(key)}"
        return self.blobs.uri(layout.raw_prefix(key))

    def uri(self, key: str) -> str:
        return self.blobs.uri(key)


async def _rendered(at: _Place, task: TaskSpec, name: str, inputs: bytes) -> str:
    plain = name.lower()
    if plain.startswith(_INPUTS):
        return await _input(at.blobs, task, inputs, name)
    if plain == _TASK_TEMPLATE:
        value = at.uri(f"{layout.node_prefix(at.key.execution, at.key.path)}/task.pb")
        await at.blobs.put(value, task.template)
        return value
    known = ", ".join(sorted([*_STANDARD, _TASK_TEMPLATE]))
    raise _failed(f"the command of {task.id} uses {{{{ .{name} }}}}, which is not known; known are: {known}")


def _as_path(uri: str) -> str:
    """A plain path where the store is a folder: flytekit takes a file or directory of a `file://` URI for missing."""
    return uri.removeprefix("file://")


def _previous_checkpoint(at: _Place) -> str:
    """Two quotes where there is none: what flytekit takes for that."""
    key = structs.replace(at.key, attempt=at.key.attempt - 1) if at.key.attempt else at.previous
    return f"{at.raw(key)}/{layout.CHECKPOINTS}" if key else '""'


def _unique_name(at: _Place) -> str:
    key = at.key
    element = () if key.index is None else (str(key.node_attempt), str(key.index))
    return label(key.execution.name, key.path, *element, str(key.attempt))


_STANDARD: dict[str, Callable[[_Place], str]] = {
    "input": lambda at: at.uri(layout.attempt_inputs(at.key)),
    "inputprefix": lambda at: at.uri(layout.attempt_inputs(at.key)).rpartition("/")[0],
    "outputprefix": lambda at: at.uri(layout.attempt_prefix(at.key)),
    "rawoutputdataprefix": lambda at: _as_path(at.raw(at.key)),
    "checkpointoutputprefix": lambda at: f"{at.raw(at.key)}/{layout.CHECKPOINTS}",
    "prevcheckpointprefix": _previous_checkpoint,
    "perretryuniquekey": _unique_name,
    "namespace": lambda at: f"{at.key.execution.project}-{at.key.execution.domain}",
}
"""The variables that every command may use, by lower-case name, but for the path of the task's template."""


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
