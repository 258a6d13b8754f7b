"""What is asked of engines from outside, checked and completed before it is kept."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

from msgspec import structs

from engine.loop.refusals import Refusals
from engine.machine import recovery, step
from engine.machine.draft import Rules
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted, SignalSet
from engine.model.graph import Program
from engine.model.ids import DNS_LABEL, ExecutionId
from engine.model.state import Execution
from engine.ports.blobstore import BlobStore
from engine.ports.clock import Clock
from engine.ports.taskrunner import TaskRunner
from engine.wire.overriding import refuse_bad
from engine.wire.sizes import refuse_large

Known = Callable[[ExecutionId], Awaitable[Execution | None]]


class Reception:
    """`program` gives the program of a package by its digest, `known` what is stored of an execution."""

    def __init__(
        self,
        blobs: BlobStore,
        runner: TaskRunner,
        clock: Clock,
        rules: Rules,
        program: Callable[[str], Awaitable[Program]],
        known: Known,
    ) -> None:
        self._blobs, self._clock, self._rules = blobs, clock, rules
        self._program, self._known = program, known
        self._refusals = Refusals(runner)

    async def submission(self, asked: ExecutionSubmitted, inputs: bytes) -> ExecutionSubmitted:
        """With a place for the inputs, a moment and a run. Raises BadInput for what can't be run."""
        execution = asked.execution
        if not DNS_LABEL.match(execution.name):
            raise BadInput(
                f"execution name {execution.name!r} is not a DNS label (1 to 63 of a-z, 0-9 and '-', neither first nor "
                "last a dash); nothing was started"
            )
        refuse_bad(asked.overrides)
        program = await self._program(asked.package)
        problem = step.unusable(asked.entity, program, self._rules) or await self._refusals.of(program, asked.entity)
        if problem:
            raise BadInput(f"{asked.entity} can't be run: {problem}; nothing was started")
        if asked.recovers is not None:
            await self._check_source(asked.recovers)
        event = structs.replace(
            asked,
            inputs_uri=self._blobs.uri(layout.workflow_inputs(execution)) if inputs else "",
            submitted_at=self._clock.now(),
            run=secrets.token_hex(8),
        )
        refuse_large(event)
        return event

    async def refuse_other(self, known: Execution, event: ExecutionSubmitted, inputs: bytes) -> None:
        """Raises BadInput where an execution that is stored was another submission."""
        same = step.same_submission(known, event)
        if same and event.inputs_uri:
            same = await self._blobs.get(event.inputs_uri) == inputs
        if not same:
            raise BadInput(
                f"execution {known.id.name} exists already ({known.phase.value}) with another workflow or other "
                "inputs; choose another name"
            )

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> SignalSet:
        """Keeps the value, a serialized `Literal`."""
        uri = self._blobs.uri(layout.signal(execution, signal_id, value))
        event = SignalSet(execution, signal_id, uri)
        refuse_large(event)
        await self._blobs.put(uri, value, durable=True)
        return event

    async def _check_source(self, source: ExecutionId) -> None:
        known = await self._known(source)
        problem = recovery.refusal(known) if known else f"there is no execution {source.name}"
        if problem:
            raise BadInput(f"{problem}; nothing was started")
