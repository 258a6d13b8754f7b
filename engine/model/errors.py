"""What goes wrong, in two families.

Failure          a value: why a node or an execution failed. Travels in events, states and facts.
EngineError      an exception: something the engine itself was asked and can't do.
  BadInput       the caller's input is wrong (exit code 2): names the thing, its value and what was expected
    BadPackage   ... everything wrong with a workflow package, at once
  NoHome         there is no log of an engine in this folder
  HomeInUse      another engine works on this home
  HomeTooNew     the home was written by a newer version
  Transient      may go away by itself: retried with back-off inside the effect, never a verdict
  Permanent      a verdict: carries the Failure that the node ends with
  BlobNotFound   no such object in the store
  LogFailed      the log can't be written: the engine stops, nothing acknowledged is lost
    LogUnreachable ... nobody answers where it should be: nothing was begun
  StoreFailed    the store can't be written: the engine stops, a resume goes on
  StoreRefused   the store will not touch this name (outside its root, odd)
  EngineGone     the engine that a command has called stopped before it answered
  Defect         the engine contradicts itself: never expected, always reported
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, structs

MESSAGE_LIMIT = 16 * 1024
"""Characters of an error message kept in states and events; the whole text stays in the attempt's error.pb."""


CODE_LIMIT = 256
"""Characters of an error code: a task may choose its own."""


class ErrorKind(StrEnum):
    USER = "USER"
    SYSTEM = "SYSTEM"


class Failure(Struct, frozen=True):
    code: str
    """Flyte 1's code where it has one, because alerts and tests match on it."""
    kind: ErrorKind
    message: str
    node: str = ""
    """Path of the node that failed first, `n1[3]` for a map element; empty for the execution itself."""

    def at(self, node: str) -> Failure:
        """The same failure with its place filled in, unless it already has one."""
        return self if self.node else structs.replace(self, node=node)

    def bounded(self) -> Failure:
        """The same, with no more text than states, events and facts keep."""
        if len(self.message) <= MESSAGE_LIMIT and len(self.code) <= CODE_LIMIT:
            return self
        return structs.replace(self, message=shorten(self.message), code=shorten(self.code, CODE_LIMIT))


def shorten(message: str, limit: int = MESSAGE_LIMIT, whole: str = "") -> str:
    """Keep the head and the tail of a long text, and say how much was cut in between. `whole`: where all of it lies."""
    if len(message) <= limit:
        return message
    place = f"; the whole text: {whole}" if whole else ""
    half = (limit - len(place)) // 2 - 32
    return f"{message[:half]}\n[... {len(message) - 2 * half} characters cut{place} ...]\n{message[-half:]}"


class EngineError(Exception):
    """Something the engine was asked for and can't do."""

    code = "EngineError"


class BadInput(EngineError):
    """The caller's input is wrong; nothing was started."""

    code = "BadInput"


class BadPackage(BadInput):
    """A workflow package that can't be used. Every problem is listed, each with the entity's name."""

    code = "BadPackage"

    def __init__(self, where: str, problems: Sequence[str]) -> None:
        self.where, self.problems = where, tuple(problems)
        listed = "".join(f"\n  - {problem}" for problem in self.problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__(f"{where} can't be used, {count}; nothing was started:{listed}")


class NoHome(BadInput):
    """There is no log of an engine in this folder."""

    code = "NoHome"


class HomeInUse(BadInput):
    """Another engine works on this home."""

    code = "HomeInUse"


class HomeTooNew(BadInput):
    """The home was written by a newer version of Propwash."""

    code = "HomeTooNew"


class Transient(EngineError):
    """May go away by itself; the effect tries again with back-off."""

    code = "Transient"


class Permanent(EngineError):
    """A verdict on the work at hand, to be recorded as it is."""

    code = "Permanent"

    def __init__(self, failure: Failure, *, recoverable: bool = False) -> None:
        super().__init__(f"{failure.code}: {failure.message}")
        self.failure, self.recoverable = failure, recoverable


class BlobNotFound(EngineError):
    """No such object in the store."""

    code = "BlobNotFound"

    def __init__(self, uri: str) -> None:
        super().__init__(f"no object at {uri}")
        self.uri = uri


class StoreRefused(EngineError):
    """The store will not touch this name."""

    code = "StoreRefused"


class StoreFailed(EngineError):
    """The store can't be written (disk full, read-only, damaged). The engine stops; a resume goes on where it was."""

    code = "StoreFailed"


class EngineGone(EngineError):
    """The engine that works on a home stopped before it answered a command, or could not do what it was asked."""

    code = "EngineGone"


class Defect(EngineError):
    """The engine contradicts itself; please report it with the log lines above."""

    code = "Defect"


class LogFailed(EngineError):
    """The log can't be written (disk full, read-only, damaged).

    The engine stops; a resume continues from the last commit.
    """

    code = "LogFailed"


class LogUnreachable(LogFailed):
    """Nobody answers where the log should be; what was asked for was not begun."""

    code = "LogUnreachable"
