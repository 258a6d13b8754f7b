"""What people ask for, checked against what is there before an engine hears of it: for commands and the HTTP API."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anyio import to_thread
from msgspec import Struct

from engine.gateway.names import random_name
from engine.machine.recovery import refusal
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from engine.registry.entries import Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.running import runnable
from engine.wire.answers import Approval, signal_literal
from engine.wire.inputs import inputs_for

__all__ = ["Approval", "Wish", "once_more", "refuse_abort", "signal_literal", "submission"]


class Wish(Struct, frozen=True):
    """An execution that somebody wants of what is registered."""

    entity: str
    """NAME or NAME:VERSION; the name may be an ending."""
    execution: ExecutionId
    inputs: Mapping[str, object]
    """By name, JSON values; a plain `str` is text that a person typed."""
    overrides: Overrides = NONE
    overwrite_cache: bool = False


async def submission(
    reading: Registry, writing: Registry, wish: Wish, kinds: Collection[NodeKind], prefix: str
) -> tuple[ExecutionSubmitted, bytes]:
    """What an engine accepts. `reading` finds the entity, `writing` may store the workflow of a single task.

    `prefix` stands before the name of an input that is wrong. Raises BadInput with every problem.
    """
    entry = await find(reading, wish.entity, wish.execution.project, wish.execution.domain, RUNNABLE)
    found = await runnable(writing, entry, kinds)
    inputs = await to_thread.run_sync(inputs_for, found.target, wish.inputs, prefix)
    event = ExecutionSubmitted(
        wish.execution,
        found.entity,
        found.package,
        overwrite_cache=wish.overwrite_cache,
        overrides=wish.overrides,
    )
    return event, inputs


def once_more(
    record: Execution, name: str | None, *, recover: bool, overwrite_cache: bool = False
) -> ExecutionSubmitted:
    """A new execution of the same workflow; `recover`: it takes over what succeeded. Raises BadInput where it can't."""
    problem = refusal(record) if recover else ""
    if problem:
        raise BadInput(f"{problem}; nothing was started")
    if name == record.id.name:
        raise BadInput(f"execution {name} is the old one: the new one needs another name; nothing was started")
    return ExecutionSubmitted(
        ExecutionId(record.id.project, record.id.domain, name or random_name()),
        record.entity,
        record.package,
        recovers=record.id if recover else None,
        overwrite_cache=overwrite_cache or (recover and record.overwrite_cache),
        overrides=record.overrides,
    )


def refuse_abort(record: Execution) -> None:
    """Raises BadInput where an execution has ended otherwise."""
    if record.terminal and record.phase is not ExecutionPhase.ABORTED:
        raise BadInput(f"execution {record.id.name} has {record.phase.value} already; there is nothing to abort")
