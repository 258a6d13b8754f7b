"""What is answered to somebody who asks by an event. Pure."""

from __future__ import annotations

from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.requests import Asked
from engine.model.state import REJECTED, Execution, Fact


def rejected(asked: Asked | ExecutionSubmitted, reason: str, now: float, code: str = "BadInput") -> Fact:
    """Nothing comes of it."""
    return refusal(asked.execution, _name(asked), reason, now, code)


def refusal(execution: ExecutionId, request: str, reason: str, now: float, code: str = "BadInput") -> Fact:
    """The same for what is no request as a whole. `request`: what the asker has called it."""
    failure = Failure(code, ErrorKind.USER, shorten(reason))
    return Fact(execution, 0, now, REJECTED, error=failure, request=request)


def accepted(asked: Asked, now: float) -> Fact:
    """It begins an execution, whose facts follow."""
    return Fact(asked.execution, 0, now, ExecutionPhase.READY.value, request=_name(asked))


def told(asked: Asked, known: Execution, now: float) -> Fact:
    """It is done, or was done before: what its execution is by now."""
    phase, error, outputs = known.phase.value, known.error, known.outputs_uri
    return Fact(asked.execution, 0, now, phase, error=error, outputs_uri=outputs, request=_name(asked))


def taken(execution: ExecutionId, known: Execution | None) -> str:
    """Why a name can't be used for something else."""
    phase = known.phase.value if known else "just submitted"
    return (
        f"execution {execution} exists already ({phase}), with other content; choose another name; nothing was started"
    )


def _name(asked: Asked | ExecutionSubmitted) -> str:
    """An execution's submission is no request: it has a digest in that place."""
    return "" if isinstance(asked, ExecutionSubmitted) else asked.request
