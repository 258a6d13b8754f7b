"""OpenTelemetry spans: one trace an execution, whoever works on it; a span for each try of an effect, and for turns."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import StatusCode

from engine.adapters.memory.scripts import exits
from engine.gateway.tracing import Ids, TracedMetrics, provider_of
from engine.model.errors import BadInput
from tests.flow.engines import EXECUTION, World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]
HERE = Resource({})


def traced(world: World, provider: TracerProvider | None = None, ids: Ids | None = None) -> InMemorySpanExporter:
    exporter, ids = InMemorySpanExporter(), ids or Ids()
    provider = provider or TracerProvider(resource=HERE, id_generator=ids)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    world.meter = TracedMetrics(provider, ids)
    return exporter


def of_execution(spans: Sequence[ReadableSpan]) -> tuple[ReadableSpan, list[ReadableSpan]]:
    """The root span, and those below it in their order."""
    (root,) = [span for span in spans if span.name == "execution"]
    below = [span for span in spans if span.parent is not None and span.context.trace_id == root.context.trace_id]
    return root, below


async def test_an_execution_is_one_trace_with_a_span_for_each_effect() -> None:
    world = World(chain(2))
    exporter = traced(world)
    record = await world.run()
    root, below = of_execution(exporter.get_finished_spans())
    assert root.parent is None
    assert root.attributes == {
        "propwash.execution": str(EXECUTION),
        "propwash.workflow": record.workflow.name,
        "propwash.phase": "SUCCEEDED",
    }
    assert root.status.status_code is StatusCode.UNSET
    assert (root.start_time, root.end_time) == (int(record.submitted_at * 1e9), int(record.ended_at * 1e9))
    assert {span.parent.span_id for span in below if span.parent} == {root.context.span_id}
    tasks = [span for span in below if span.name == "RunTask"]
    assert [dict(span.attributes or {}) for span in tasks] == [
        {
            "propwash.execution": str(EXECUTION),
            "propwash.node": path,
            "propwash.attempt": 0,
            "propwash.outcome": "done",
        }
        for path in ("n0", "n1")
    ]


async def test_turns_are_traces_of_their_own_with_their_commit() -> None:
    world = World(chain(1))
    exporter = traced(world)
    await world.run()
    spans = exporter.get_finished_spans()
    turns = [span for span in spans if span.name == "turn"]
    commits = [span for span in spans if span.name == "commit"]
    assert len({span.context.trace_id for span in turns}) == len(turns) == len(commits)
    assert sum(int(str((span.attributes or {})["propwash.records"])) for span in turns) == 3
    for turn, commit in zip(turns, commits, strict=True):
        assert commit.parent is not None
        assert commit.parent.span_id == turn.context.span_id


async def test_what_failed_is_marked() -> None:
    world = World(chain(1))
    world.runner.script = exits(1)
    exporter = traced(world)
    record = await world.run()
    assert record.error is not None
    root, below = of_execution(exporter.get_finished_spans())
    assert (root.status.status_code, root.status.description) == (StatusCode.ERROR, record.error.code)
    assert [span.name for span in below if span.status.status_code is StatusCode.ERROR] == ["RunTask"]


async def test_another_process_continues_the_same_trace() -> None:
    world = World(chain(1))
    first = traced(world)
    await world.run()
    another = World(chain(1))
    second = traced(another)
    another.log, another.blobs = world.log, world.blobs
    (record,) = await world.log.executions()
    assert isinstance(another.meter, TracedMetrics)
    another.meter.see([record], [])
    roots = [of_execution(each.get_finished_spans())[0].context for each in (first, second)]
    assert (roots[0].trace_id, roots[0].span_id) == (roots[1].trace_id, roots[1].span_id)


async def test_an_execution_is_sampled_as_a_whole() -> None:
    world, ids = World(chain(1)), Ids()
    exporter = traced(world, TracerProvider(ParentBased(ALWAYS_OFF), HERE, id_generator=ids), ids)
    await world.run()
    assert exporter.get_finished_spans() == ()


def test_a_service_has_a_name_that_the_environment_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    assert provider_of(Ids()).resource.attributes["service.name"] == "propwash"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "orders")
    assert provider_of(Ids()).resource.attributes["service.name"] == "orders"


def test_without_the_packages_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.delitem(sys.modules, "engine.gateway.tracing")
    with pytest.raises(BadInput, match=r"tracing\.enabled: a package is missing .*; pip install 'propwash\[otel\]'"):
        importlib.import_module("engine.gateway.tracing")
