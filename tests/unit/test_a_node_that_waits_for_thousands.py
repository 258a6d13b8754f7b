"""A node that waits for thousands looks at each of them about once, in whatever order they end."""

from __future__ import annotations

import random

import pytest
from msgspec import structs

from engine.machine.draft import Draft
from engine.model.graph import FailurePolicy
from engine.model.phases import NodePhase
from tests.programs import constant, graph, node, program, task
from tests.simulation import Simulation, user_error

WIDTH = 1_000
WORK = task("work")
FLOW = program([graph("wf", [node(f"n{k}", WORK.id, bindings=[constant("a", k)]) for k in range(WIDTH)])], [WORK])


@pytest.mark.parametrize("order", ["first to last", "last to first", "any"])
def test_the_work_grows_with_the_number_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    looks, phase = 0, Draft.phase

    def counted(draft: Draft, path: str) -> NodePhase:
        nonlocal looks
        looks += 1
        return phase(draft, path)

    world = Simulation(FLOW)
    monkeypatch.setattr(Draft, "phase", counted)
    chance = random.Random(7)
    while world.waiting:
        last = len(world.waiting) - 1
        world.deliver({"first to last": 0, "last to first": last, "any": chance.randint(0, last)}[order])
    assert world.state.record.phase.value == "SUCCEEDED"
    assert looks < 8 * WIDTH


def test_it_is_skipped_when_one_of_them_has_failed() -> None:
    flow = FLOW.workflows[next(iter(FLOW.workflows))]
    patient = structs.replace(flow, policy=FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
    world = Simulation(program([patient], [WORK]), lambda key: user_error() if key.path == "n7" else None).run()
    assert world.nodes()["end-node"].phase is NodePhase.SKIPPED
    assert world.state.record.phase.value == "FAILED"
