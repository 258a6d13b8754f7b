"""OpenTelemetry traces of executions, effects and turns. The only module that imports opentelemetry, only where asked.

An execution is one trace, whichever processes work on it: its ids follow from the execution's own. Its root span is
told at its end, and below it is a span for each try of an effect. A turn is a trace of its own, since it serves many
executions. Where they go, and how many are sampled, is said by OpenTelemetry's own variables (OTEL_*).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from engine.gateway.metrics import VERSION, Metrics
from engine.loop.meter import Outcome
from engine.model.effects import Effect
from engine.model.errors import BadInput
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution, Fact
from engine.ports.eventlog import Record

try:
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import Decision
    from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, Status, StatusCode, TraceFlags
except ImportError as error:
    raise BadInput(
        f"tracing.enabled: a package is missing ({error}); pip install 'propwash[otel]'; nothing was started"
    ) from error

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.sampling import Sampler

FLUSH_SECONDS = 2.0
_FAILED = frozenset({"failed", "error"})


class Ids(RandomIdGenerator):
    """Random ids, but for the root span of an execution."""

    def __init__(self) -> None:
        self.next: SpanContext | None = None

    def generate_trace_id(self) -> int:
        return self.next.trace_id if self.next else super().generate_trace_id()

    def generate_span_id(self) -> int:
        return self.next.span_id if self.next else super().generate_span_id()


class TracedMetrics(Metrics):
    """A `Meter` that tells of what it counts."""

    def __init__(self, provider: TracerProvider, ids: Ids) -> None:
        super().__init__()
        self._tracer = provider.get_tracer("propwash", VERSION)
        self._sampler: Sampler = provider.sampler
        self._ids = ids

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        super().see(executions, facts)
        for record in executions:
            if record.terminal:
                self._tell_of_execution(record)

    def turned(
        self, turn: int, records: Sequence[Record], dead_letters: int, stale: int, commit_seconds: float
    ) -> None:
        seconds = self._clock() - self._turns[turn]
        super().turned(turn, records, dead_letters, stale, commit_seconds)
        end = time.time_ns()
        span = self._tracer.start_span("turn", Context(), start_time=_before(end, seconds))
        span.set_attributes({"propwash.records": len(records), "propwash.dead_letters": dead_letters})
        inside = trace.set_span_in_context(span)
        self._tracer.start_span("commit", inside, start_time=_before(end, commit_seconds)).end(end)
        span.end(end)

    def performed(self, effect: Effect, outcome: Outcome, seconds: float) -> None:
        super().performed(effect, outcome, seconds)
        end = time.time_ns()
        key = effect.key
        parent = trace.set_span_in_context(NonRecordingSpan(self._root(key.execution, key.run)))
        span = self._tracer.start_span(type(effect).__name__, parent, start_time=_before(end, seconds))
        _describe(span, key)
        span.set_attribute("propwash.outcome", outcome)
        if outcome in _FAILED:
            span.set_status(Status(StatusCode.ERROR, outcome))
        span.end(end)

    def _tell_of_execution(self, record: Execution) -> None:
        above = record.parent
        links = [Link(self._root(above.execution, above.run))] if above else []
        self._ids.next = self._root(record.id, record.run)
        try:
            span = self._tracer.start_span(
                "execution", Context(), links=links, start_time=_nanoseconds(record.submitted_at)
            )
        finally:
            self._ids.next = None
        span.set_attributes(
            {
                "propwash.execution": str(record.id),
                "propwash.workflow": record.workflow.name,
                "propwash.phase": record.phase.value,
            }
        )
        if record.phase is not ExecutionPhase.SUCCEEDED:
            span.set_status(Status(StatusCode.ERROR, record.error.code if record.error else record.phase.value))
        span.end(_nanoseconds(record.ended_at))

    def _root(self, execution: ExecutionId, run: str) -> SpanContext:
        """Of an execution's trace: the same in every process."""
        digest = hashlib.sha256(f"{execution}|{run}".encode("utf-8", "surrogatepass")).digest()
        trace_id = int.from_bytes(digest[:16], "big")
        decision = self._sampler.should_sample(None, trace_id, "execution").decision
        flags = TraceFlags(TraceFlags.SAMPLED if decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)
        return SpanContext(trace_id, int.from_bytes(digest[16:24], "big"), is_remote=True, trace_flags=flags)


@asynccontextmanager
async def tracing() -> AsyncIterator[TracedMetrics]:
    """Send traces until the block is left; those of the last seconds have FLUSH_SECONDS then. Raises BadInput."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise BadInput(f"tracing.enabled: a package is missing ({error}); pip install 'propwash[otel]'") from error
    ids = Ids()
    provider = await to_thread.run_sync(provider_of, ids)
    provider.add_span_processor(BatchSpanProcessor(await to_thread.run_sync(OTLPSpanExporter)))
    try:
        yield TracedMetrics(provider, ids)
    finally:
        with anyio.move_on_after(2 * FLUSH_SECONDS, shield=True):
            await to_thread.run_sync(provider.force_flush, int(FLUSH_SECONDS * 1000), abandon_on_cancel=True)
            await to_thread.run_sync(provider.shutdown, abandon_on_cancel=True)


def provider_of(ids: Ids) -> TracerProvider:
    """Blocking."""
    about = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "propwash"), "service.version": VERSION}
    return TracerProvider(resource=Resource.create(about), id_generator=ids, shutdown_on_exit=False)


def _describe(span: Span, key: AttemptKey) -> None:
    span.set_attributes(
        {"propwash.execution": str(key.execution), "propwash.node": key.path, "propwash.attempt": key.attempt}
    )
    if key.index is not None:
        span.set_attribute("propwash.index", key.index)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)


def _before(end: int, seconds: float) -> int:
    return end - _nanoseconds(seconds)
