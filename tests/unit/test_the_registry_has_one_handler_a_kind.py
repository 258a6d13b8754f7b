"""The registry refuses duplicates, and an entity that uses a kind without a handler is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from msgspec import structs

from engine.machine.step import unusable
from engine.model.effects import Effect, RunTask, StopAttempt, WriteOutputs
from engine.model.errors import Defect
from engine.model.graph import NodeKind
from handlers.registry import default_handlers, performers, register
from handlers.start_end import EndHandler
from handlers.task import TaskHandler
from tests.programs import branch, chain, graph, node, program, task, workflow_id
from tests.simulation import RULES

GATE = NodeKind.GATE


def test_two_handlers_of_one_kind_are_refused() -> None:
    with pytest.raises(Defect, match="two handlers for task nodes"):
        register([TaskHandler(), TaskHandler()])


def test_two_handlers_of_one_effect_are_refused() -> None:
    class Greedy(EndHandler):
        performs: tuple[type[Effect], ...] = (WriteOutputs, RunTask)

    with pytest.raises(Defect, match="two handlers for the effect RunTask"):
        register([TaskHandler(), Greedy()])


def test_every_effect_of_the_default_handlers_has_its_performer() -> None:
    handlers = default_handlers()

    assert set(handlers) == {
        NodeKind.START,
        NodeKind.END,
        NodeKind.TASK,
        NodeKind.ARRAY,
        NodeKind.ARRAY_OF_LAUNCH_PLANS,
        NodeKind.SUBWORKFLOW,
        NodeKind.LAUNCH_PLAN,
        NodeKind.BRANCH,
        NodeKind.GATE,
    }
    assert set(performers(handlers.values())) == set(get_args(Effect)) - {StopAttempt}


@pytest.mark.parametrize("place", ["a node", "an arm of a branch", "a failure node"])
def test_a_kind_without_a_handler_is_refused_even_deep_inside(place: str) -> None:
    work = task("work")
    odd = structs.replace(node("n0", work.id), kind=GATE)
    nested = branch("n1", {"n2": b""}, [branch("n2", {"n0": b""}, [odd])])
    inner = {
        "a node": graph("inner", [odd]),
        "an arm of a branch": graph("inner", [nested]),
        "a failure node": graph("inner", [], failure=odd),
    }[place]
    outer = graph("outer", [node("n0", inner.id)])

    rules = replace(RULES, handlers={kind: handler for kind, handler in RULES.handlers.items() if kind is not GATE})

    found = unusable(workflow_id("outer"), program([outer, inner], [work]), rules)

    assert found == "node n0 of workflow inner is a gate node, which this version can't run"


def test_what_can_be_run_is_usable_and_what_is_not_there_is_not() -> None:
    assert unusable(workflow_id("wf"), chain(2), RULES) == ""
    assert unusable(workflow_id("nope"), chain(2), RULES) == "workflow nope is not in the package"
