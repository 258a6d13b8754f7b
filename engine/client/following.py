"""What is told of an execution that was asked for: its transitions, and the answer to the request."""

from __future__ import annotations

from msgspec import Struct

from engine.model.errors import BadInput, Failure
from engine.model.ids import ExecutionId
from engine.model.phases import EXECUTION_TERMINAL, ExecutionPhase
from engine.model.state import REJECTED, Fact

_TERMINAL = {phase.value for phase in EXECUTION_TERMINAL}


class Rejected(BadInput):
    """Nothing comes of what was asked for; the message says why."""

    code = "Rejected"


class Submitted(Struct, frozen=True):
    """A request that is durable. An engine may still reject it."""

    execution: ExecutionId
    request: str
    position: int
    """Offset in the partition of the history: what is told of the request lies behind it."""


class Ended(Struct, frozen=True):
    """An execution that is terminal."""

    execution: ExecutionId
    phase: ExecutionPhase
    error: Failure | None = None
    outputs_uri: str = ""


def is_answer(fact: Fact, request: str) -> bool:
    """Whether a fact is the answer to this request. Raises Rejected."""
    if fact.sequence or fact.request != request:
        return False
    if fact.phase == REJECTED:
        raise Rejected(fact.error.message if fact.error else "rejected without a reason")
    return True


def ended(fact: Fact) -> Ended | None:
    """The end, where a fact tells of it."""
    if fact.path or fact.phase not in _TERMINAL:
        return None
    return Ended(fact.execution, ExecutionPhase(fact.phase), fact.error, fact.outputs_uri)
