"""Interruptible: the node's own word, then the execution's, then that of its workflow or of one around it (2.4)."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.model.effects import RunElement, RunTask
from engine.model.events import ExecutionSubmitted
from engine.model.graph import ArraySpec, Program
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from tests.programs import branch, graph, mapped, node, program, task, workflow_id
from tests.simulation import Simulation

WORK = task("work")
OTHER = ExecutionId("p", "d", "other")


def asked(whole: Program, says: bool | None = None) -> dict[str, bool]:
    """By path, what the runner was asked for; `says`: the execution."""
    world = Simulation(whole, size=1)
    world.run()
    world.effects.clear()
    submission = ExecutionSubmitted(OTHER, workflow_id("wf"), "digest", overrides=Overrides(interruptible=says))
    world.apply(submission)
    world.run()
    runs = [effect for effect in world.effects if isinstance(effect, RunTask | RunElement)]
    return {run.key.path: run.interruptible for run in runs}


def one(own: bool | None, workflow: bool) -> Program:
    spec = structs.replace(node("n0", WORK.id), interruptible=own)
    return program([structs.replace(graph("wf", [spec]), interruptible=workflow)], [WORK])


@pytest.mark.parametrize("workflow", [True, False])
@pytest.mark.parametrize("execution", [True, False, None])
@pytest.mark.parametrize("own", [True, False, None])
def test_the_nearest_word_counts(own: bool | None, execution: bool | None, workflow: bool) -> None:
    said = own if own is not None else execution if execution is not None else workflow
    assert asked(one(own, workflow), execution) == {"n0": said}


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_a_workflow_speaks_for_its_branches_maps_clean_ups_and_for_silent_sub_workflows(
    outer: bool, inner: bool
) -> None:
    many = mapped(WORK)
    sub = structs.replace(graph("sub", [branch("c", {"n0": b""}, [node("n0", WORK.id)])]), interruptible=inner)
    arm = branch("n2", {"n0": b""}, [node("n0", WORK.id)])
    nodes = [node("n0", sub.id), node("n1", many.id, array=ArraySpec()), arm]
    # A sub-workflow's own node carries an explicit False from flytekit: it says nothing of what is inside.
    nodes[0] = structs.replace(nodes[0], interruptible=False)
    main = structs.replace(graph("wf", nodes), interruptible=outer)
    assert asked(program([main, sub], [WORK, many])) == {"n0/0/c/0/n0": outer or inner, "n1": outer, "n2/0/n0": outer}
