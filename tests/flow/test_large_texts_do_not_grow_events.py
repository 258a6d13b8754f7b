"""User case S19: however much a task says, events, states and facts stay small; the whole text stays in its file."""

from __future__ import annotations

import re

import pytest

from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import copies, raises
from engine.model.errors import MESSAGE_LIMIT, BadInput, ErrorKind, Failure
from engine.model.events import AbortRequested, ExecutionSubmitted
from engine.model.graph import ArraySpec
from engine.model.limits import EVENT_BYTES
from engine.model.overrides import Overrides
from engine.ports.taskrunner import TaskRequest
from engine.wire import codec
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints
from tests.programs import INT, chain, graph, interface, list_of, mapped, node, plan, program, promise, task
from tests.simulation import Simulation

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(60)]

LENGTH = 2_599_999
TEXT = "first" + "x" * (LENGTH - 9) + "last"
SMALL = 3 * MESSAGE_LIMIT
"""Bytes; what an event, a state or a fact with one bounded message stays below."""


async def _sizes(world: World) -> list[int]:
    """Of every event that was written, and of every state and fact that is stored."""
    found: list[int] = []
    for record in await world.log.executions():
        snapshot = await world.log.snapshot(record.id)
        assert snapshot is not None
        found += [len(codec.pack_execution(snapshot.execution))]
        found += [len(codec.pack_node(one)) for one in snapshot.nodes]
        found += [len(codec.pack_fact(fact)) for fact in await world.log.history(record.id)]
    return found


async def test_a_huge_message_keeps_its_ends_and_says_where_the_whole_is() -> None:
    assert len(TEXT) == LENGTH
    child = graph("child", [node("n0", task("work").id)])
    child_plan = plan("child_plan", child)
    outer = graph("outer", [node("n0", child_plan.id)])
    world = World(program([outer, child], [task("work")], [child_plan]))
    world.runner.script = raises(world.blobs, TEXT)
    ended = await world.run()

    assert ended.phase.value == "FAILED"
    assert ended.ended_at - ended.started_at < 5
    assert ended.error is not None
    inner = (await world.child("n0")).error
    assert inner is not None
    assert inner.message.startswith("first")
    assert len(inner.message) <= MESSAGE_LIMIT
    assert inner.message.endswith("last")
    _, mark, _ = inner.message.split("\n")
    found = re.fullmatch(r"\[\.\.\. (\d+) characters cut; the whole text: (\S+/error\.pb) \.\.\.\]", mark)
    assert found is not None
    assert int(found[1]) == LENGTH - (len(inner.message) - len(mark) - 2)
    assert len(await world.blobs.get(found[2])) > LENGTH
    assert ended.error.message.endswith(inner.message)
    assert len(ended.error.message) <= MESSAGE_LIMIT
    assert max(await _sizes(world)) < SMALL


async def test_ten_thousand_failed_elements_make_one_short_summary() -> None:
    """Every other element fails, so that no two failures stand side by side."""
    many = mapped(task("work"))
    spec = node("n0", many.id, array=ArraySpec(min_success_ratio=0.4), bindings=[promise("a", "", "xs")])
    wf = graph("wf", [spec], face=interface({"xs": list_of(INT)}))
    world = World(program([wf], [many]))
    broken, fine = raises(world.blobs, "y" * 1024), copies(world.blobs)

    def script(request: TaskRequest) -> object:
        assert request.key.index is not None
        return (broken if request.key.index % 2 or request.key.index > 7000 else fine)(request)

    kept: Script = script  # type: ignore[assignment]
    world.runner.script = kept
    ended = await world.run(inputs=ints(xs=list(range(10_000))))

    error = ended.error
    assert error is not None
    assert error.message.count(",") < 200
    assert " more; 4000 must succeed. First error, at n0[1]: " in error.message
    assert len(error.message) < 4096
    assert max(await _sizes(world)) < 64 * 1024


async def test_what_somebody_hands_in_is_refused_where_it_is_too_large() -> None:
    world = World(chain(1))
    async with world.engine() as engine:
        large = Overrides(labels={"why": "z" * EVENT_BYTES})
        with pytest.raises(BadInput, match=rf"execution e1 takes \d+ bytes beside its inputs; at most {EVENT_BYTES}"):
            await engine.accept(ExecutionSubmitted(EXECUTION, world.first, "digest", overrides=large), b"")
        with pytest.raises(BadInput, match="nothing was started"):
            await engine.abort(EXECUTION, "z" * EVENT_BYTES)
        with pytest.raises(BadInput, match="nothing was started"):
            await engine.signal(EXECUTION, "z" * EVENT_BYTES, b"")
        await engine.submit(EXECUTION, world.first, "digest", b"")
        assert (await engine.wait(EXECUTION)).phase.value == "SUCCEEDED"


def test_texts_of_any_origin_are_cut_before_they_are_kept() -> None:
    world = Simulation(chain(2), lambda key: Failure("C" * 9999, ErrorKind.USER, TEXT))
    world.run()
    error = world.state.record.error
    assert error is not None
    assert len(error.code) <= 300
    assert len(error.message) <= MESSAGE_LIMIT + 200
    assert max(len(codec.pack_fact(fact)) for fact in world.facts) < SMALL

    stopped = Simulation(chain(1), lambda key: "hang")
    stopped.apply(AbortRequested(EXECUTION, TEXT))
    stopped.run()
    assert len(codec.pack_execution(stopped.state.record)) < SMALL
