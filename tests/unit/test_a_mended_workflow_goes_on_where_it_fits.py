"""A recovery with another package: what succeeded must be there unchanged, what did not may be changed in any way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from flyteidl.core import types_pb2
from msgspec import structs

from engine.machine.children import child_id
from engine.machine.execution import ExecutionState
from engine.machine.foresight import foreseen
from engine.machine.refit import misfits
from engine.model.events import ExecutionSubmitted
from engine.model.graph import ArraySpec, Graph, LaunchPlanSpec, NodeSpec, Program, TaskSpec
from engine.model.ids import AttemptKey, ExecutionId
from tests.programs import (
    INT,
    branch,
    constant,
    graph,
    interface,
    mapped,
    node,
    plan,
    program,
    promise,
    task,
    wait_for_input,
    workflow_id,
)
from tests.programs import gate as gated
from tests.simulation import EXECUTION, Simulation, user_error

AGAIN = ExecutionId("p", "d", "e2")
TEXT = types_pb2.LiteralType(simple=types_pb2.SimpleType.STRING)
WORK, OTHER, CLEAN = task("work"), task("other"), task("clean")


def _program(
    nodes: Sequence[NodeSpec],
    *,
    inside: Sequence[Graph] = (),
    plans: Sequence[LaunchPlanSpec] = (),
    tasks: Sequence[TaskSpec] = (WORK, OTHER, CLEAN),
    inputs: dict[str, types_pb2.LiteralType] | None = None,
) -> Program:
    whole = graph("wf", nodes, face=interface(inputs or {}, {}))
    return program([whole, *inside], [*tasks, mapped(WORK), mapped(OTHER)], plans)


def _chain(*targets: TaskSpec) -> list[NodeSpec]:
    """Each takes what the one before it gives."""
    bound = [promise("a", f"n{k - 1}") if k else constant("a", 1) for k in range(len(targets))]
    return [node(f"n{k}", it.id, after=[f"n{k - 1}"] if k else [], bindings=[bound[k]]) for k, it in enumerate(targets)]


def _failed(whole: Program, *paths: str, size: int = 0) -> Simulation:
    def fails(key: AttemptKey) -> bool:
        return key.path in paths or (key.index is not None and f"{key.path}[{key.index}]" in paths)

    world = Simulation(whole, lambda key: user_error() if fails(key) else None, size=size).run()
    assert world.state.record.phase.value == "FAILED"
    return world


def _begun(world: Simulation, mended: Program) -> ExecutionState:
    record = structs.replace(world.state.record, package="mended")
    return ExecutionState.of(record, mended, source=world.state)


def _misfits(world: Simulation, mended: Program) -> list[str]:
    return list(misfits(world.state, _begun(world, mended)))


def _recover(world: Simulation, mended: Program) -> dict[str, str]:
    """The phases, with nothing failing any more."""
    world.program, world.script = mended, lambda key: None
    world.started.clear()
    world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "mended", recovers=EXECUTION))
    world.run()
    return world.phases(AGAIN)


def _ran(world: Simulation) -> list[str]:
    return sorted(key.path if key.index is None else f"{key.path}[{key.index}]" for key in world.started)


def test_what_failed_and_what_follows_may_be_another_task() -> None:
    world = _failed(_program(_chain(WORK, WORK, WORK)), "n1")
    mended = _program(_chain(WORK, OTHER, CLEAN, WORK))
    assert _misfits(world, mended) == []
    assert _recover(world, mended) == {"n0": "RECOVERED", "n1": "SUCCEEDED", "n2": "SUCCEEDED", "n3": "SUCCEEDED"}
    assert _ran(world) == ["n1", "n2", "n3"]


TWO = structs.replace(WORK, interface=interface({"a": INT, "b": INT}, {"o0": INT}))
GIVES_TEXT = structs.replace(WORK, interface=interface({"a": INT}, {"o0": TEXT}))
FIRST = node("n0", WORK.id, bindings=[constant("a", 1)])
SECOND = node("n1", WORK.id, after=["n0"], bindings=[promise("a", "n0")])


@pytest.mark.parametrize(
    ("mended", "why"),
    [
        (_program(_chain(OTHER, WORK)), "runs other now, and ran work"),
        (_program([node("n1", WORK.id)]), "is not there any more"),
        (_program([node("n0", WORK.id, bindings=[constant("a", 2)]), SECOND]), "has other inputs: a"),
        (_program([FIRST, SECOND], tasks=[TWO]), "runs work of another interface: input 'b' is new"),
        (_program([FIRST, SECOND], tasks=[GIVES_TEXT]), "runs work of another interface: output 'o0' has another type"),
        (_program([gated("n0", wait_for_input("go")), SECOND]), "is a gate now, and was a task"),
    ],
)
def test_what_succeeded_must_be_there_unchanged(mended: Program, why: str) -> None:
    world = _failed(_program([FIRST, SECOND]), "n1")
    assert _misfits(world, mended) == [f"node n0, which has succeeded, {why}"]


def test_the_inputs_of_the_workflow_must_be_the_same() -> None:
    world = _failed(_program(_chain(WORK), inputs={"n": INT, "m": INT}), "n0")
    assert _misfits(world, _program(_chain(WORK), inputs={"n": TEXT})) == [
        "input 'm' is gone: the new execution has the inputs of the old one",
        "input 'n' has another type: the new execution has the inputs of the old one",
    ]


def test_inside_a_sub_workflow_that_failed() -> None:
    def of(*inside: TaskSpec) -> Program:
        return _program([node("n0", workflow_id("inner"))], inside=[graph("inner", _chain(*inside))])

    world = _failed(of(WORK, WORK), "n0/0/n1")
    assert _misfits(world, of(OTHER, WORK)) == ["node n0/0/n0, which has succeeded, runs other now, and ran work"]
    assert _misfits(world, of(WORK, OTHER)) == []
    assert _recover(world, of(WORK, OTHER, CLEAN))["n0/0/n0"] == "RECOVERED"
    assert _ran(world) == ["n0/0/n1", "n0/0/n2"]


def test_a_container_with_other_inputs_begins_anew() -> None:
    def of(value: int) -> Program:
        inner = graph("inner", _chain(WORK, WORK), face=interface({"a": INT}, {}))
        return _program([node("n0", inner.id, bindings=[constant("a", value)])], inside=[inner])

    world = _failed(of(1), "n0/0/n1")
    assert _misfits(world, of(2)) == []
    assert _recover(world, of(2))["n0/0/n0"] == "SUCCEEDED"
    assert _ran(world) == ["n0/0/n0", "n0/0/n1"]


def test_the_conditions_of_a_branch_that_succeeded() -> None:
    def of(condition: bytes, body: TaskSpec) -> Program:
        chosen = branch("n0", {"n0": condition, "n1": b""}, [node("n0", body.id), node("n1", WORK.id)])
        return _program([chosen, node("n1", WORK.id, after=["n0"])])

    world = _failed(of(b"x", WORK), "n1")
    assert _misfits(world, of(b"x", WORK)) == []
    assert _misfits(world, of(b"y", WORK)) == ["node n0, which has succeeded, has other conditions"]
    assert _misfits(world, of(b"x", OTHER)) == [
        "node n0, which has succeeded, runs n0, where node n0 runs other now, and ran work"
    ]


@pytest.mark.parametrize(("target", "ran"), [(WORK, ["n0[1]"]), (OTHER, ["n0[0]", "n0[1]", "n0[2]"])])
def test_a_map_that_failed_keeps_its_elements_if_it_maps_the_same_task(target: TaskSpec, ran: list[str]) -> None:
    def of(work: TaskSpec) -> Program:
        return _program([node("n0", mapped(work).id, array=ArraySpec(run_all=True))])

    world = _failed(of(WORK), "n0[1]", size=3)
    assert _misfits(world, of(target)) == []
    assert _recover(world, of(target)) == {"n0": "SUCCEEDED"}
    assert _ran(world) == ran


@pytest.mark.parametrize(("last", "ran"), [(WORK, ["n1"]), (OTHER, ["n0", "n1"])])
def test_a_child_execution_is_recovered_if_its_graph_is_the_same(last: TaskSpec, ran: list[str]) -> None:
    def of(work: TaskSpec) -> Program:
        child = graph("child", _chain(WORK, work))
        return _program([node("n5", plan("plan", child).id)], inside=[child], plans=[plan("plan", child)])

    world = Simulation(of(WORK))
    bad = child_id(world.state.record.key("n5", 0))
    world.script = lambda key: user_error() if key.execution == bad and key.path == "n1" else None
    world.run()
    assert _misfits(world, of(last)) == []
    assert _recover(world, of(last)) == {"n5": "SUCCEEDED"}
    assert _ran(world) == ran


def test_a_dynamic_task_plans_again() -> None:
    whole = _program(_chain(CLEAN, WORK))
    planned = structs.replace(program([graph("plan", _chain(WORK, WORK))], [WORK]), root=workflow_id("plan"))
    world = Simulation(
        whole,
        lambda key: "plan:planned" if key.path == "n0" else user_error() if key.path == "n0/0/n1" else None,
    )
    world.plans = {"planned": planned}
    world.run()
    assert world.phases()["n0/0/n0"] == "SUCCEEDED"
    foretold = {it.path: it.why for it in foreseen(world.state, _begun(world, whole))}
    assert foretold["n0"] == "it FAILED: USER:RuntimeError; of a mended workflow its task plans again"

    world.program = whole
    world.script = lambda key: "plan:planned" if key.path == "n0" else None
    world.started.clear()
    world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "mended", recovers=EXECUTION))
    world.run()
    assert world.state.record.phase.value == "FAILED"
    assert world.states[AGAIN].record.phase.value == "SUCCEEDED"
    assert _ran(world) == ["n0", "n0/0/n0", "n0/0/n1", "n1"]


def test_a_dry_run_tells_what_was_changed() -> None:
    world = _failed(_program(_chain(WORK, WORK)), "n1")
    mended = _program(_chain(WORK, OTHER, CLEAN))
    assert [(it.path, it.fate.value, it.why) for it in foreseen(world.state, _begun(world, mended))] == [
        ("n0", "reused", "it SUCCEEDED"),
        ("n1", "must run", "it runs other now, and ran work"),
        ("n2", "must run", "it had not been started"),
    ]
