"""The waiting lines of typical states, word for word."""

from __future__ import annotations

from dataclasses import replace

from engine.machine.waiting import Wait, waiting
from engine.model.cache import CachePolicy
from engine.model.events import AbortRequested, SignalSet
from engine.model.graph import ArraySpec
from engine.model.limits import RetryLimits
from tests.programs import approve, chain, gate, graph, mapped, node, plan, program, sleep, task, wait_for_input
from tests.simulation import EXECUTION, RULES, Simulation, recoverable


def lines(simulation: Simulation) -> dict[str, str]:
    return {line.path: line.what for line in waiting(simulation.state)}


def test_a_chain_waits_for_what_runs() -> None:
    simulation = Simulation(chain(3), lambda key: "hang")
    assert lines(simulation) == {
        "n0": "its inputs, then a free slot of the engine (processes.max_concurrent)",
        "n1": "n0 (QUEUED)",
        "n2": "n1 (NOT_YET_STARTED)",
        "end-node": "n2 (NOT_YET_STARTED)",
    }
    simulation.deliver()
    assert lines(simulation)["n0"] == "its task to end"
    assert lines(simulation)["n1"] == "n0 (RUNNING)"


def test_a_node_with_many_predecessors_names_those_that_run_first() -> None:
    work = task("work")
    many = [node(f"n{k}", work.id, after=["n9"] if k < 5 else []) for k in range(10)]
    last = node("n10", work.id, after=[f"n{k}" for k in range(9)])
    simulation = Simulation(program([graph("wf", [*many, last])], [work]), lambda key: "hang")
    assert lines(simulation)["n10"] == "n5 (QUEUED), n6 (QUEUED), n7 (QUEUED) and 6 more"


def test_a_map_counts_its_elements() -> None:
    many = mapped(task("work"))
    wf = program([graph("wf", [node("n0", many.id, array=ArraySpec(parallelism=4))])], [many])
    simulation = Simulation(wf, lambda key: None if key.index == 0 else "hang", size=1000)
    assert lines(simulation)["n0"] == "its inputs to be resolved"
    simulation.deliver()
    assert lines(simulation)["n0"] == "1,000 of 1,000 elements: 4 queued, 996 not started"
    simulation.run()
    assert lines(simulation)["n0"] == "999 of 1,000 elements: 4 running, 995 not started"
    simulation.apply(AbortRequested(EXECUTION, "enough"))
    assert lines(simulation) == {"n0": "4 elements to be stopped"}


def test_gates_say_what_answers_them_and_until_when() -> None:
    nodes = [
        gate("n0", wait_for_input("number"), timeout=60.0),
        gate("n1", approve("fine")),
        gate("n2", sleep(5.0)),
    ]
    simulation = Simulation(program([graph("wf", nodes)]))
    begun = simulation.nodes()["n0"].started_at
    number, fine, slept, _ = waiting(simulation.state)
    assert number == Wait("n0", "the signal 'number'", begun + 60.0, True, wait_for_input("number"))
    assert fine == Wait("n1", "the approval 'fine'", 0.0, False, approve("fine"))
    assert slept == Wait("n2", "the end of its sleep", begun + 5.0)
    simulation.apply(SignalSet(EXECUTION, "number", "seven"))
    assert lines(simulation)["n0"] == "the signal 'number', which has come, to be taken"


def test_containers_name_what_is_inside() -> None:
    work = task("work")
    inner = graph("inner", [node("n0", work.id)])
    child = graph("child", [node("n0", work.id)])
    child_plan = plan("child_plan", child)
    wf = program([graph("wf", [node("n0", inner.id), node("n1", child_plan.id)]), inner, child], [work], [child_plan])
    simulation = Simulation(wf, lambda key: "hang")
    assert lines(simulation)["n0"] == "n0/0/n0 (QUEUED)"
    assert lines(simulation)["n1"] == "its child execution to be submitted"
    simulation.run()
    assert lines(simulation)["n0"] == "n0/0/n0 (RUNNING)"
    assert lines(simulation)["n1"] == "its child execution to end"
    simulation.apply(AbortRequested(EXECUTION, "enough"))
    assert lines(simulation)["n0"] == "n0/0/n0 (ABORTING) to be stopped"
    assert lines(simulation)["n1"] == "what it runs to be stopped"


def test_what_has_ended_waits_for_nothing() -> None:
    assert lines(Simulation(chain(2)).run()) == {}


def test_an_attempt_that_may_wait_for_an_equal_one_says_so() -> None:
    work = task("work")
    n0 = node("n0", work.id, cache=CachePolicy("1", serialize=True))
    simulation = Simulation(program([graph("wf", [n0])], [work]), lambda key: "hang")
    assert lines(simulation)["n0"] == (
        "an equal attempt to end (cache_serialize), or its inputs and a free slot of the engine"
    )


def test_what_is_tried_again_says_when() -> None:
    rules = replace(RULES, retries=RetryLimits(user_wait_seconds=30.0))
    simulation = Simulation(chain(1, retries=1), lambda key: recoverable(), rules=rules)
    while simulation.nodes()["n0"].phase.name != "RETRYABLE_FAILURE":
        simulation.deliver()
    (line, *_) = waiting(simulation.state)
    assert line.what == "its next attempt, number 2"
    assert line.until > simulation.now
    assert not line.patience


def test_a_time_limit_is_no_promise() -> None:
    inner = graph("inner", [gate("n0", approve("go"))])
    wf = program([graph("wf", [node("n0", inner.id, timeout=50.0)]), inner])
    simulation = Simulation(wf)
    found = {line.path: line for line in waiting(simulation.state)}
    assert found["n0"].patience
    assert found["n0"].what == "n0/0/n0 (RUNNING)"


def test_what_the_runner_says_of_a_queued_task_counts() -> None:
    simulation = Simulation(chain(2), lambda key: "hang")
    notes = {"n0": "its pod to start: a node (Unschedulable)", "n1": "nothing that counts"}
    told = {line.path: line.what for line in waiting(simulation.state, notes)}
    assert (told["n0"], told["n1"]) == ("its pod to start: a node (Unschedulable)", "n0 (QUEUED)")
    simulation.deliver()
    assert {line.path: line.what for line in waiting(simulation.state, notes)}["n0"] == "its task to end"
