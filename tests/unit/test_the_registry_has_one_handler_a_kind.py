"""The registry refuses duplicates, and an entity that uses a kind without a handler is refused by name."""

from __future__ import annotations

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
from tests.programs import chain, graph, node, program, task, workflow_id
from tests.simulation import RULES


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
        NodeKind.GATE,
    }
    assert set(performers(handlers.values())) == set(get_args(Effect)) - {StopAttempt}


@pytest.mark.parametrize("kind", [NodeKind.BRANCH])
def test_a_kind_without_a_handler_is_refused_even_deep_inside(kind: NodeKind) -> None:
    work = task("work")
    inner = graph("inner", [structs.replace(node("n0", work.id), kind=kind)])
    outer = graph("outer", [node("n0", inner.id)])

    found = unusable(workflow_id("outer"), program([outer, inner], [work]), RULES)

    assert found == f"node n0 of workflow inner is a {kind.value} node, which this version can't run"


def test_what_can_be_run_is_usable_and_what_is_not_there_is_not() -> None:
    assert unusable(workflow_id("wf"), chain(2), RULES) == ""
    assert unusable(workflow_id("nope"), chain(2), RULES) == "workflow nope is not in the package"
