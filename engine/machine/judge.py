"""Judging a finished attempt: from how it ended and what its folder holds to one verdict.

Exit code 0 is not success (flytekit writes error.pb and exits 0), and a missing process is not failure: the files
decide, in the order error.pb, futures.pb, outputs.pb. What flytekit writes, and when: its `bin/entrypoint.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from engine.model.errors import ErrorKind, Failure, shorten
from engine.ports.taskrunner import Exit, ExitReason

SIGKILL, SIGTERM = 9, 15


class ErrorDocument(Struct, frozen=True):
    """The `ErrorDocument` that flytekit wrote to error.pb."""

    code: str
    message: str
    recoverable: bool
    system: bool
    """Its origin is SYSTEM: flytekit's own machinery failed, not the author's code."""


class Evidence(Struct, frozen=True):
    """All that is known of an attempt that has ended."""

    exit: Exit
    declared: tuple[str, ...] = ()
    """Output variables of the task's interface."""
    error: ErrorDocument | None = None
    error_problem: str = ""
    """Why error.pb, which is there, can't be read."""
    has_futures: bool = False
    outputs: Mapping[str, int] | None = None
    """What outputs.pb holds: variable -> framed bytes of its literal in a gathered list. None = no file."""
    outputs_problem: str = ""
    """Why outputs.pb, which is there, can't be read."""
    values: Mapping[str, int] = {}
    """Variable -> bytes of the serialized literal itself, of the one that it refers to where it is a reference."""

    @property
    def anything(self) -> bool:
        """The attempt has left a file that counts, whole or not."""
        left = self.error is not None or self.has_futures or self.outputs is not None
        return left or bool(self.error_problem or self.outputs_problem)


class Verdict(Struct, frozen=True):
    failure: Failure | None = None
    """None = success."""
    recoverable: bool = False
    planned: bool = False
    """It left a plan (futures.pb), whose end-node will write the outputs."""
    output_bytes: Mapping[str, int] = {}


def judge(evidence: Evidence, max_bytes: int | None = None) -> Verdict:
    """One verdict for every combination of facts. `max_bytes`: a value must be smaller (offloading.max_size)."""
    if evidence.exit.reason is ExitReason.REFUSED:
        code = evidence.exit.condition or "FailedToBuildResource"
        return _failed(code, ErrorKind.USER, evidence.exit.message, recoverable=False)
    if evidence.error_problem:
        return _failed(
            "ErrorFileBadFormat", ErrorKind.SYSTEM, f"the error document could not be read: {evidence.error_problem}"
        )
    if evidence.error is not None:
        return _documented(evidence.error)
    ended_well = evidence.exit.reason is ExitReason.LOST or (
        evidence.exit.reason is ExitReason.EXITED and evidence.exit.code == 0
    )
    if not ended_well:
        return _ended_badly(evidence.exit)
    if evidence.has_futures:
        return Verdict(planned=True)
    return _outputs(evidence, max_bytes)


_TOO_LARGE = "is too large to be offloaded"
_HOPELESS = ("TypeTransformerFailedError", "Failed to convert inputs of task", "Failed to convert outputs of task")
"""What flytekit says of values that a task can't read or write. The next attempt gets, or makes, the same ones."""


def _documented(error: ErrorDocument) -> Verdict:
    """flytekit calls whatever fails outside the author's code recoverable. Some of it only claims to be: those errors
    must not take the attempts that are there for what may pass."""
    kind = ErrorKind.SYSTEM if error.system else ErrorKind.USER
    if error.system and error.recoverable:
        if _TOO_LARGE in error.message:
            return _failed("OffloadTooLarge", ErrorKind.USER, error.message, recoverable=False)
        if error.code == "UNKNOWN_OUTPUT" or any(sign in error.message for sign in _HOPELESS):
            return _failed(error.code, kind, error.message, recoverable=False)
    return _failed(error.code, kind, error.message, recoverable=error.recoverable)


def _outputs(evidence: Evidence, max_bytes: int | None) -> Verdict:
    if evidence.outputs_problem:
        return _failed("OutputsNotFound", ErrorKind.SYSTEM, f"outputs.pb could not be read: {evidence.outputs_problem}")
    if evidence.outputs is None:
        if evidence.exit.reason is ExitReason.LOST:
            return _failed(
                evidence.exit.condition or "ResourceDeletedExternally",
                ErrorKind.SYSTEM,
                _seen("the task is gone and wrote nothing", evidence.exit),
            )
        if evidence.declared:
            names = ", ".join(evidence.declared)
            return _failed(
                "OutputsNotFound",
                ErrorKind.SYSTEM,
                _seen(
                    f"the task exited with 0 but wrote neither outputs.pb nor error.pb; expected outputs: {names}",
                    evidence.exit,
                ),
            )
        return Verdict()
    missing = [name for name in evidence.declared if name not in evidence.outputs]
    if missing:
        found = ", ".join(sorted(evidence.outputs)) or "none"
        return _failed(
            "OutputsNotFound",
            ErrorKind.SYSTEM,
            f"outputs.pb lacks the declared output {', '.join(missing)}; it holds: {found}",
        )
    for variable, size in evidence.values.items():
        if max_bytes is not None and size >= max_bytes:
            return Verdict(too_large(variable, size, max_bytes))
    return Verdict(output_bytes=evidence.outputs)


def too_large(variable: str, size_bytes: int, max_bytes: int) -> Failure:
    """The author's error, whoever wrote the value: no other attempt would make it smaller."""
    message = (
        f"output {variable!r} is {size_bytes} bytes; offloading.max_size is {max_bytes} bytes, "
        "and a value must be smaller than that"
    )
    return Failure("OffloadTooLarge", ErrorKind.USER, message)


def _ended_badly(exit: Exit) -> Verdict:
    match exit.reason:
        case ExitReason.EXITED:
            return _failed("Error", ErrorKind.USER, _seen(f"the task exited with status {exit.code}", exit))
        case ExitReason.SIGNALLED if exit.code in (SIGKILL, SIGTERM):
            return _failed(
                "Interrupted", ErrorKind.SYSTEM, _seen(f"the task was killed by signal {exit.code} from outside", exit)
            )
        case ExitReason.SIGNALLED:
            return _failed("Error", ErrorKind.USER, _seen(f"the task died of signal {exit.code}", exit))
        case ExitReason.TIMED_OUT:
            return _failed(
                exit.condition or "TimeoutExpired", ErrorKind.USER, _seen("task execution timeout expired", exit)
            )
        case ExitReason.OOM_KILLED:
            return _failed("OOMKilled", ErrorKind.USER, _seen("OOMKilled: the task used more memory than it may", exit))
        case _:
            return _failed("FailedToStart", ErrorKind.SYSTEM, _seen("the task could not be started", exit))


def _seen(what: str, exit: Exit) -> str:
    if not exit.message:
        return what
    return f"{what} {exit.message}" if exit.message.startswith("(") else f"{what}: {exit.message}"


def _failed(code: str, kind: ErrorKind, message: str, *, recoverable: bool = True) -> Verdict:
    return Verdict(failure=Failure(code=code, kind=kind, message=shorten(message)), recoverable=recoverable)
