"""What an answer of the API server, or none, means for a call."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from engine.adapters.kubernetes.quantities import quantity
from engine.model.errors import ErrorKind, Failure


class Answer(Struct, frozen=True):
    """What came back, where it was no success."""

    status: int
    """0: nothing came, the call may have had its effect or not."""
    reason: str = ""
    """`reason` of the Status object, e.g. AlreadyExists."""
    message: str = ""
    retry_after: float | None = None
    """Seconds that the server asks for."""


class Do(StrEnum):
    GO_ON = "there is an answer, and it is no hindrance"
    LOOK = "look at what is there under this name"
    AGAIN = "the same call again, after a while"
    WAIT = "for room in the namespace"
    GIVE_UP = "nothing will change by itself"
    GONE = "there is no such object"


class Ruling(Struct, frozen=True):
    do: Do
    after_seconds: float = 0.0
    """At the least, for AGAIN."""
    failure: Failure | None = None
    """For GIVE_UP."""


_QUOTA = "exceeded quota"
_ANONYMOUS = "system:anonymous"
"""Who calls without credentials."""
_ASKED = re.compile(r"(requested|limited): (\S+?)(?=, [a-z]+: |$)")


def on_create(answer: Answer) -> Ruling:
    match answer.status:
        case 409 if answer.reason == "AlreadyExists":
            return Ruling(Do.LOOK)
        case 403 if _QUOTA in answer.message:
            return _quota(answer)
        case 400 | 422:
            return _given_up("BadTaskFormat", ErrorKind.USER, answer)
        case 413:
            return _given_up("EntityTooLarge", ErrorKind.USER, answer)
        case 401 | 403 | 404 | 405:
            return _given_up("RuntimeFailure", ErrorKind.SYSTEM, answer)
    return _passing(answer)


def on_greeting(answer: Answer, *, needed: bool) -> Do:
    """Of a cluster that is asked whether it can be used. `needed`: by anything that somebody may be refused."""
    anonymous = _ANONYMOUS in answer.message
    match answer.status:
        case 401:
            return Do.GIVE_UP
        case 403 if needed or anonymous:
            return Do.GIVE_UP
        case 0 | 429:
            return Do.AGAIN
    return Do.AGAIN if answer.status >= 500 else Do.GO_ON


def on_delete(answer: Answer) -> Ruling:
    """409: the object under this name is not the one that was meant."""
    match answer.status:
        case 404 | 409:
            return Ruling(Do.GONE)
    return _on_call(answer)


def on_read(answer: Answer) -> Ruling:
    return Ruling(Do.GONE) if answer.status == 404 else _on_call(answer)


def on_list(answer: Answer) -> Ruling:
    """404: the cluster has no objects of this kind."""
    return _given_up("RuntimeFailure", ErrorKind.SYSTEM, answer) if answer.status == 404 else _on_call(answer)


def _on_call(answer: Answer) -> Ruling:
    if answer.status in (400, 401, 403, 405, 422):
        return _given_up("RuntimeFailure", ErrorKind.SYSTEM, answer)
    return _passing(answer)


def _passing(answer: Answer) -> Ruling:
    """Lost replies, conflicts in the server's own books, too many requests, a server in trouble."""
    return Ruling(Do.AGAIN, answer.retry_after or 0.0)


def _given_up(code: str, kind: ErrorKind, answer: Answer) -> Ruling:
    what = f"{answer.status} {answer.reason}".strip()
    return Ruling(Do.GIVE_UP, failure=Failure(code, kind, f"Kubernetes refuses ({what}): {answer.message}"))


def _quota(answer: Answer) -> Ruling:
    """What asks for more than the quota is in all will never fit."""
    said = dict(_ASKED.findall(answer.message))
    asked, limited = _amounts(said.get("requested", "")), _amounts(said.get("limited", ""))
    for name in asked:
        try:
            if name in limited and quantity(asked[name]) > quantity(limited[name]):
                return _given_up("ResourceRequestsExceedLimits", ErrorKind.USER, answer)
        except ValueError:
            continue
    return Ruling(Do.WAIT)


def _amounts(text: str) -> dict[str, str]:
    """`requests.cpu=5,pods=1` by name."""
    pairs = [pair.partition("=") for pair in text.split(",") if "=" in pair]
    return {name: value for name, _, value in pairs}
