"""The runtime-version gate: a task that can't read references gets the values themselves, or fails before it starts.

A runtime reads references from the version on that `offloading.supported_runtimes` says; one that is older, unknown or
unversioned does not.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.data.materialise import TooMuch, expanded, write
from engine.data.references import Reference, find_references
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec
from engine.model.limits import IncompatibleRuntime, OffloadLimits
from engine.ports.blobstore import BlobStore

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


async def admit(blobs: BlobStore, task: TaskSpec, inputs: bytes, limits: OffloadLimits, destination_uri: str) -> None:
    """Store the inputs (a serialized `LiteralMap`) for the task, with every reference replaced where it needs that.

    Raises Permanent (USER) LiteralOffloadingDisabled or LiteralOffloadingNotSupported, with nothing stored; Permanent
    (SYSTEM) where a reference leads nowhere; Transient.
    """
    found = check(task, inputs, limits)
    if not found:
        await blobs.put(destination_uri, inputs)
        return
    try:
        rope = await expanded(blobs, inputs, limits.materialise_max)
    except TooMuch as problem:
        reason = f"and its values are too large to be put inline: {problem}"
        raise _refused(task, limits, found, reason) from problem
    await write(blobs, rope, destination_uri)


def check(task: TaskSpec, inputs: bytes, limits: OffloadLimits) -> list[Reference]:
    """The references that must be replaced for this task, mostly none. Raises Permanent (USER) where it must not be."""
    if reads_references(task, limits):
        return []
    found = find_references(inputs)
    if not found:
        return []
    if not limits.enabled:
        message = f"{task.id} would receive {_counted(found)}, but offloading is not enabled"
        raise Permanent(Failure(code="LiteralOffloadingDisabled", kind=ErrorKind.USER, message=message))
    if limits.incompatible_runtime is IncompatibleRuntime.FAIL:
        raise _refused(task, limits, found, "and offloading.incompatible_runtime is 'fail'")
    return found


def reads_references(task: TaskSpec, limits: OffloadLimits) -> bool:
    """Whether the task's runtime is new enough. The first N.N.N in a version counts, compared number by number."""
    minimum = _version(limits.supported_runtimes.get(task.runtime_type, ""))
    actual = _version(task.runtime_version)
    return minimum is not None and actual is not None and actual >= minimum


@lru_cache(maxsize=256)
def _version(text: str) -> tuple[int, int, int] | None:
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _refused(task: TaskSpec, limits: OffloadLimits, found: list[Reference], reason: str) -> Permanent:
    known = ", ".join(f"{name} {version} or newer" for name, version in limits.supported_runtimes.items()) or "none"
    message = (
        f"{task.id} is registered with runtime {task.runtime_type} {task.runtime_version or '(no version)'}; "
        f"runtimes that read offloaded values: {known}. It would receive {_counted(found)}, {reason}"
    )
    return Permanent(Failure(code="LiteralOffloadingNotSupported", kind=ErrorKind.USER, message=message))


def _counted(found: list[Reference]) -> str:
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"an offloaded value ({found[0].uri}{more})"
