"""What Prometheus is told: counters of what was committed and done, gauges of what is there now."""

from __future__ import annotations

import time

import pytest
from msgspec import structs

from engine.adapters.memory.scripts import by_attempt, copies, exits, hangs, raises, takes
from engine.gateway.metrics import Metrics
from engine.model.architectures import ArchitectureName
from engine.model.events import ExecutionSubmitted
from engine.model.graph import ArraySpec
from engine.model.limits import IncompatibleRuntime, OffloadLimits
from engine.model.overrides import Overrides
from engine.model.state import Fact
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested, until
from tests.programs import INT, chain, graph, interface, list_of, mapped, node, program, promise, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

OFFLOADING = OffloadLimits(min_size=0)


def measured(world: World) -> Metrics:
    world.meter = metrics = Metrics()
    return metrics


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"propwash_{name}", labels)


def transitions(metrics: Metrics, kind: str) -> dict[str, float]:
    return {
        sample.labels["phase"]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "propwash_node_transitions_total" and sample.labels["kind"] == kind
    }


async def test_a_chain_is_counted_once_a_node() -> None:
    world = World(chain(3))
    metrics = measured(world)
    await world.run()

    assert transitions(metrics, "task") == {"QUEUED": 3, "RUNNING": 3, "SUCCEEDED": 3}
    assert transitions(metrics, "unknown") == {}
    assert value(metrics, "execution_transitions_total", phase="SUCCEEDED") == 1
    assert value(metrics, "events_total", event="AttemptSucceeded") == 4  # the end-node's outputs are one
    assert value(metrics, "events_total", event="ExecutionSubmitted") == 1
    assert value(metrics, "effect_seconds_count", effect="RunTask", outcome="done") == 3
    assert (
        value(metrics, "turns_total") == value(metrics, "turn_records_count") == value(metrics, "commit_seconds_count")
    )
    assert value(metrics, "turn_records_sum") == 5
    assert value(metrics, "dead_letters_total") == 0
    assert metrics.stalled_seconds() == 0


async def test_the_time_between_two_nodes_is_that_of_the_engine() -> None:
    world = World(chain(2))
    world.runner.script = takes(5.0, copies(world.blobs))
    metrics = measured(world)
    await world.run()

    assert value(metrics, "node_start_delay_seconds_count", kind="task") == 2
    between = value(metrics, "node_start_delay_seconds_sum", kind="task")
    assert between is not None
    assert between < 0.2  # the tasks themselves took ten seconds


async def test_retries_are_told_apart_by_whose_failure_it_was() -> None:
    world = World(chain(1, retries=1))
    blobs = world.blobs
    world.runner.script = by_attempt(raises(blobs, "boom", recoverable=True), copies(blobs))
    metrics = measured(world)
    execution = await world.run()

    assert execution.phase.value == "SUCCEEDED"
    assert value(metrics, "retries_total", cause="user") == 1
    assert value(metrics, "retries_total", cause="system") is None
    assert value(metrics, "effect_seconds_count", effect="RunTask", outcome="failed") == 1


async def test_what_runs_and_waits_is_read_off_the_states() -> None:
    work = task("work")
    many = mapped(work)
    lists = interface({"xs": list_of(INT)}, {"o0": list_of(INT)})
    maps = node("n0", many.id, array=ArraySpec(parallelism=2), bindings=[promise("a", "", "xs")])
    alone = node("n1", work.id, bindings=[promise("a", "n0")], after=["n0"])
    world = World(program([graph("wf", [maps, alone], face=lists)], [work, many]))
    world.runner.script = hangs
    metrics = measured(world)

    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=[1, 2, 3]))
        await until(engine, EXECUTION, "n0", "RUNNING")
        assert value(metrics, "tasks", state="waiting") == 2
        assert value(metrics, "tasks", state="running") == 0
        assert value(metrics, "executions", phase="RUNNING") == 1
        await engine.abort(EXECUTION, "enough")
        await engine.wait(EXECUTION)
    assert value(metrics, "tasks", state="waiting") == 0
    assert value(metrics, "executions", phase="RUNNING") == 0


@pytest.mark.parametrize(
    ("asked", "declared", "told"),
    [("arm64", "amd64", "arm64"), ("", "arm64", "arm64"), ("", "", "any"), ("", "arm-v6", "arm-v6")],
)
async def test_waiting_tasks_are_told_by_the_architecture_they_ask_for(
    asked: ArchitectureName, declared: str, told: str
) -> None:
    work = structs.replace(task("work"), architecture=declared)
    many = mapped(work)
    maps = node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")])
    world = World(program([graph("wf", [maps], face=interface({"xs": list_of(INT)}, {}))], [work, many]))
    world.runner.script = hangs
    metrics = measured(world)
    async with world.engine() as engine:
        event = ExecutionSubmitted(
            EXECUTION, world.first, world.program.digest, overrides=Overrides(architecture=asked)
        )
        await engine.accept(event, ints(xs=[1, 2, 3]))
        await until(engine, EXECUTION, "n0", "RUNNING")
        assert value(metrics, "architecture_tasks", state="waiting", architecture=told) == 3
        assert value(metrics, "architecture_tasks", state="running", architecture=told) == 0
        families = [it for it in metrics.registry.collect() if it.name == "propwash_architecture_tasks"]
        assert sum(sample.value for family in families for sample in family.samples) == 3


async def test_offloaded_and_gathered_bytes_are_counted() -> None:
    world = World(nested(), offload=OFFLOADING)
    metrics = measured(world)
    await world.run(inputs=ints(xs=[3, 1, 2]))

    (stored,) = [data for uri, data in world.blobs.objects.items() if uri.endswith("_offloaded_metadata.pb")]
    assert value(metrics, "offloaded_values_total") == 1
    assert value(metrics, "offloaded_bytes_total") == len(stored)
    gathered = value(metrics, "gathered_bytes_total")
    assert gathered is not None
    assert 0 < gathered < len(stored)
    assert value(metrics, "materialised_values_total") == 0
    assert transitions(metrics, "element")["SUCCEEDED"] == 3


@pytest.mark.parametrize("decision", IncompatibleRuntime)
async def test_what_the_version_gate_does_is_counted(decision: IncompatibleRuntime) -> None:
    work, old = task("work"), task("old", interface({"a": list_of(INT)}, {"o0": list_of(INT)}), version="1.9.0")
    many = mapped(work)
    nodes = [
        node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")]),
        node("n1", old.id, bindings=[promise("a", "n0")], after=["n0"]),
    ]
    wf = graph("wf", nodes, face=interface({"xs": list_of(INT)}, {}))
    limits = structs.replace(OFFLOADING, incompatible_runtime=decision)
    world = World(program([wf], [work, old, many]), offload=limits)
    metrics = measured(world)
    await world.run(inputs=ints(xs=[1, 2]))

    refused = decision is IncompatibleRuntime.FAIL
    assert value(metrics, "version_gate_refusals_total") == (1 if refused else 0)
    assert value(metrics, "materialised_values_total") == (0 if refused else 1)


async def test_a_restore_is_measured() -> None:
    world = World(chain(1))
    world.runner.script = hangs
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await until(engine, EXECUTION, "n0", "QUEUED")
    world.crash()
    world.runner.script = exits(0)
    metrics = measured(world)
    async with world.engine() as engine:
        assert value(metrics, "restored_executions") == 1
        await engine.wait(EXECUTION)


async def test_no_label_holds_what_a_person_named() -> None:
    world = World(nested())
    metrics = measured(world)
    await world.run(inputs=ints(xs=[1]))
    told = {
        (name, text)
        for family in metrics.registry.collect()
        for sample in family.samples
        for name, text in sample.labels.items()
        if sample.name.startswith("propwash_")
    }
    assert {name for name, _ in told} == {
        "architecture", "cause", "direction", "effect", "event", "kind", "le", "operation", "outcome", "phase", "state",
        "version",
    } - {"cause"}  # fmt: skip
    assert not [text for _, text in told if EXECUTION.name in text]


async def test_how_soon_others_can_read_it_is_measured() -> None:
    metrics, now = Metrics(), time.time()
    metrics.shown([], [Fact(EXECUTION, 1, now - 1000.0, "RUNNING"), Fact(EXECUTION, 2, now - 0.001, "RUNNING")])
    metrics.shown([], [])
    assert value(metrics, "view_delay_seconds_count") == 1
    assert value(metrics, "view_delay_seconds_bucket", le="10.0") == 1
