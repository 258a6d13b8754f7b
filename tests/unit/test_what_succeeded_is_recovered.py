"""Recovery by node path: behaviour reference 6.7, scenario 23, and what is better here (map elements, children)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import structs

from engine.machine.children import child_id
from engine.machine.recovery import refusal
from engine.model.effects import RunElement, RunTask
from engine.model.events import AbortRequested, ExecutionSubmitted, SignalSet
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey, ExecutionId
from tests.programs import approve, chain, gate, graph, mapped, node, plan, program, task, wait_for_input, workflow_id
from tests.simulation import EXECUTION, Simulation, user_error

AGAIN = ExecutionId("p", "d", "e2")


def _place(key: AttemptKey) -> str:
    return key.path if key.index is None else f"{key.path}[{key.index}]"


def failed(
    whole: Program, *places: str, plans: Mapping[str, Program] | None = None, planner: str = "", size: int = 0
) -> Simulation:
    """An execution that has failed: attempts at these places do. The task at `planner` writes the first plan."""

    def script(key: AttemptKey) -> object:
        if key.path == planner:
            return f"plan:{next(iter(plans or {}))}"
        return user_error(f"{key.path} boom") if _place(key) in places else None

    world = Simulation(whole, script, size=size)  # type: ignore[arg-type]
    world.plans = dict(plans or {})
    world.run()
    assert world.state.record.phase.value == "FAILED"
    return world


def recover(world: Simulation, source: ExecutionId = EXECUTION, into: ExecutionId = AGAIN) -> dict[str, str]:
    """Recover it, with nothing failing any more; the phases of the new execution."""
    world.script = lambda key: None
    record = world.states[source].record
    world.apply(ExecutionSubmitted(into, record.entity, "digest", record.inputs_uri, recovers=source))
    world.run()
    return world.phases(into)


def started(world: Simulation, execution: ExecutionId = AGAIN) -> list[str]:
    return sorted(_place(key) for key in world.started if key.execution == execution)


def test_a_chain_goes_on_behind_what_succeeded() -> None:
    world = failed(chain(4), "n2")
    assert recover(world) == {"n0": "RECOVERED", "n1": "RECOVERED", "n2": "SUCCEEDED", "n3": "SUCCEEDED"}

    assert started(world) == ["n2", "n3"]
    assert world.states[AGAIN].record.phase.value == "SUCCEEDED"
    old, new = world.nodes()["n1"], world.nodes(AGAIN)["n1"]
    assert (new.outputs_uri, new.inputs_uri) == (old.outputs_uri, old.inputs_uri)
    assert [fact.phase for fact in world.facts if fact.execution == AGAIN and fact.path == "n0"] == ["RECOVERED"]


def test_a_recovery_can_be_recovered() -> None:
    world = failed(chain(4), "n1")
    third = ExecutionId("p", "d", "e3")
    world.script = lambda key: user_error() if key.path == "n3" else None
    world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "digest", recovers=EXECUTION))
    world.run()

    assert recover(world, AGAIN, third) == {f"n{k}": "RECOVERED" for k in range(3)} | {"n3": "SUCCEEDED"}
    assert started(world, third) == ["n3"]


def test_a_map_runs_only_the_elements_that_did_not_succeed() -> None:
    many = mapped(task("work"))
    wf = program([graph("wf", [node("n0", many.id, array=ArraySpec(parallelism=2))])], [many])
    world = failed(wf, "n0[3]", size=6)
    before = world.element_phases("n0")
    assert before[:4] == ["SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "FAILED"]
    assert recover(world) == {"n0": "SUCCEEDED"}

    assert started(world) == [f"n0[{k}]" for k in range(6) if before[k] != "SUCCEEDED"]
    elements = world.nodes(AGAIN)["n0"].elements
    assert elements is not None
    assert (elements.recovered, elements.succeeded) == (before.count("SUCCEEDED"), 6)
    assert elements.output_bytes == {"o0": 60}


def test_a_map_of_another_size_runs_as_a_whole() -> None:
    many = mapped(task("work"))
    wf = program([graph("wf", [node("n0", many.id, array=ArraySpec())])], [many])
    world = failed(wf, "n0[3]", size=6)
    world.size = 4
    recover(world)
    assert started(world) == ["n0[0]", "n0[1]", "n0[2]", "n0[3]"]


def test_containers_are_looked_into() -> None:
    work = task("work")
    deep = graph("deep", [node("n0", work.id), node("n1", work.id, after=["n0"])])
    inner = graph("inner", [node("n0", deep.id), node("n1", work.id, after=["n0"])])
    wf = program([graph("wf", [node("n0", inner.id), node("n1", work.id, after=["n0"])]), inner, deep], [work])
    world = failed(wf, "n0/0/n0/0/n1")

    assert recover(world) == {
        "n0": "SUCCEEDED",
        "n0/0/n0": "SUCCEEDED",
        "n0/0/n0/0/n0": "RECOVERED",
        "n0/0/n0/0/n1": "SUCCEEDED",
        "n0/0/n1": "SUCCEEDED",
        "n1": "SUCCEEDED",
    }
    assert started(world) == ["n0/0/n0/0/n1", "n0/0/n1", "n1"]


def test_a_container_that_succeeded_is_not_opened() -> None:
    work = task("work")
    inner = graph("inner", [node("n0", work.id)])
    wf = program([graph("wf", [node("n0", inner.id), node("n1", work.id, after=["n0"])]), inner], [work])
    world = failed(wf, "n1")
    assert recover(world) == {"n0": "RECOVERED", "n1": "SUCCEEDED"}


def test_a_dynamic_task_does_not_plan_again() -> None:
    work, generator = task("work"), task("generator")
    nodes = [node(f"n{k}", work.id) for k in range(50)]
    policy = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    planned = structs.replace(program([graph("plan", nodes, policy=policy)], [work]), root=workflow_id("plan"))
    wf = program([graph("wf", [node("n0", generator.id), node("n1", work.id, after=["n0"])])], [generator, work])
    world = failed(wf, "n0/0/n7", plans={"planned": planned}, planner="n0")
    phases = recover(world)

    assert started(world) == ["n0/0/n7", "n1"]
    assert [path for path, phase in phases.items() if phase == "RECOVERED"] == sorted(
        f"n0/0/n{k}" for k in range(50) if k != 7
    )
    history = [fact.phase for fact in world.facts if fact.execution == AGAIN and fact.path == "n0"]
    assert history == ["QUEUED", "RUNNING", "DYNAMIC_RUNNING", "SUCCEEDED"]


def test_a_dynamic_task_whose_plan_is_gone_plans_again() -> None:
    work, generator = task("work"), task("generator")
    planned = structs.replace(program([graph("plan", [node("n0", work.id)])], [work]), root=workflow_id("plan"))
    wf = program([graph("wf", [node("n0", generator.id)])], [generator, work])
    world = failed(wf, "n0/0/n0", plans={"planned": planned}, planner="n0")
    world.state.plans.clear()
    recover(world)
    assert started(world) == ["n0"]


def test_a_child_that_succeeded_is_used_and_one_that_failed_is_recovered_itself() -> None:
    work = task("work")
    child = graph("child", [node("n0", work.id), node("n1", work.id, after=["n0"])])
    other = graph("other", [node("n8", work.id)])
    plans = [plan("child_plan", child), plan("other_plan", other)]
    nodes = [node("n0", plans[1].id), node("n1", plans[0].id, after=["n0"])]
    world = failed(program([graph("wf", nodes), child, other], [work], plans), "n1")
    old = child_id(world.state.record.key("n1", 0))
    assert recover(world) == {"n0": "RECOVERED", "n1": "SUCCEEDED"}

    new = child_id(world.states[AGAIN].record.key("n1", 0))
    assert new != old
    assert world.states[new].record.recovers == old
    assert world.phases(new) == {"n0": "RECOVERED", "n1": "SUCCEEDED"}
    assert [_place(key) for key in world.started if key.execution == new] == ["n1"]


def test_children_of_a_map_are_recovered_one_by_one() -> None:
    work = task("work")
    child = graph("child", [node("n8", work.id), node("n9", work.id, after=["n8"])])
    child_plan = plan("child_plan", child)
    many = node("n0", child_plan.id, array=ArraySpec())
    wf = program([graph("wf", [many]), child], [work], [child_plan])
    world = Simulation(wf, size=3)
    bad = child_id(world.state.record.element_key("n0", 0, 1, 0))
    world.script = lambda key: user_error() if key.execution == bad and key.path == "n9" else None
    world.run()
    assert world.state.record.phase.value == "FAILED"
    world.started.clear()
    assert recover(world) == {"n0": "SUCCEEDED"}

    assert [key.path for key in world.started] == ["n9"]
    new = child_id(world.states[AGAIN].record.element_key("n0", 0, 1, 0))
    assert [key.execution for key in world.started] == [new]


def test_a_clean_up_is_never_recovered() -> None:
    work, clean = task("work"), task("clean")
    cleaned = structs.replace(graph("wf", [node("n0", work.id)]), failure=node("fn0", clean.id))
    world = failed(program([cleaned], [work, clean]), "n0")
    world.script = lambda key: user_error() if key.path == "n0" else None
    world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "digest", recovers=EXECUTION))
    world.run()
    assert world.phases(AGAIN).get("fn0") == world.phases().get("fn0")
    assert world.phases(AGAIN).get("fn0") != "RECOVERED"


def test_what_was_skipped_or_aborted_is_decided_anew() -> None:
    work = task("work")
    nodes = [node("n0", work.id), node("n1", work.id, after=["n0"]), node("n2", work.id)]
    policy = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    world = failed(program([graph("wf", nodes, policy=policy)], [work]), "n0")
    assert world.phases()["n1"] == "SKIPPED"
    assert recover(world) == {"n0": "SUCCEEDED", "n1": "SUCCEEDED", "n2": "RECOVERED"}


def test_signals_hold_on_but_for_those_that_made_a_gate_fail() -> None:
    work = task("work")
    nodes = [
        gate("n0", wait_for_input("number")),
        gate("n1", approve("fine"), after=["n0"]),
        gate("n2", wait_for_input("number"), after=["n1"]),
        node("n3", work.id, after=["n2"]),
    ]
    world = Simulation(program([graph("wf", nodes)], [work])).run()
    world.apply(SignalSet(EXECUTION, "number", "seven"))
    world.apply(SignalSet(EXECUTION, "fine", "no"))
    world.run()
    assert world.state.record.phase.value == "FAILED"
    assert recover(world) == {"n0": "RECOVERED", "n1": "RUNNING"}

    assert world.states[AGAIN].record.signals == {"number": "seven"}
    world.apply(SignalSet(AGAIN, "fine", "yes"))
    world.run()
    assert world.phases(AGAIN) == {"n0": "RECOVERED", "n1": "SUCCEEDED", "n2": "SUCCEEDED", "n3": "SUCCEEDED"}


def test_what_runs_again_gets_the_checkpoint_of_the_attempt_before() -> None:
    many = mapped(task("work"))
    work = task("work")
    nodes = [node("n0", work.id), node("n1", many.id, array=ArraySpec(), after=["n0"])]
    world = failed(program([graph("wf", nodes)], [work, many]), "n0")
    world.script = lambda key: user_error() if _place(key) == "n1[1]" else None
    step = world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "digest", recovers=EXECUTION))
    assert step is not None
    (run,) = [effect for effect in step.effects if isinstance(effect, RunTask)]
    assert run.origin.previous == AttemptKey(EXECUTION, "n0")

    world.size = 2
    world.run()
    third = ExecutionId("p", "d", "e3")
    world.apply(ExecutionSubmitted(third, workflow_id("wf"), "digest", recovers=AGAIN))
    found: list[RunElement] = []
    while world.waiting:
        done = world.deliver()
        found += [effect for effect in done.effects if isinstance(effect, RunElement)] if done else []
    assert [(run.key.index, run.succeeded, run.origin.previous) for run in found] == [
        (0, AttemptKey(AGAIN, "n1", 0, 0), AttemptKey(AGAIN, "n1", 0, 0)),
        (1, None, AttemptKey(AGAIN, "n1", 0, 1)),
    ]


@pytest.mark.parametrize("moment", range(0, 40, 3))
def test_a_crash_in_a_recovery_loses_nothing(moment: int) -> None:
    work = task("work")
    many = mapped(work)
    inner = graph("inner", [node("n0", many.id, array=ArraySpec(parallelism=2)), node("n1", work.id)])
    wf = program([graph("wf", [node("n0", inner.id), node("n1", work.id, after=["n0"])]), inner], [work, many])
    world = failed(wf, "n0/0/n0[3]", size=6)
    before = [key.index for key in world.started if key.index is not None]
    succeeded = {k for k, phase in enumerate(world.element_phases("n0/0/n0")) if phase == "SUCCEEDED"}
    assert before
    world.started.clear()
    world.script = lambda key: None
    world.apply(ExecutionSubmitted(AGAIN, workflow_id("wf"), "digest", recovers=EXECUTION))
    for _ in range(moment):
        if world.waiting:
            world.deliver()
    world.resume()
    world.run()

    assert world.states[AGAIN].record.phase.value == "SUCCEEDED"
    assert not {key.index for key in world.started if key.index is not None} & succeeded
    assert max(world.started.values()) == 1


def test_what_can_t_be_recovered_is_refused_with_the_reason() -> None:
    done = Simulation(chain(1)).run().state.record
    assert refusal(done) == ("execution e1 has SUCCEEDED: there is nothing to recover; relaunch runs it once more")
    running = Simulation(chain(1), lambda key: "hang").state.record
    assert refusal(running) == "execution e1 is RUNNING; only one that has ended can be recovered"
    stopped = Simulation(chain(1), lambda key: "hang")
    stopped.apply(AbortRequested(EXECUTION, "enough"))
    assert refusal(stopped.run().state.record) == ""
