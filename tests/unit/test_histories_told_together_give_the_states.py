"""Facts of many executions, one among another: each state is compared with what was told up to it, whoever goes on."""

from __future__ import annotations

import random

import pytest

from engine.machine.histories import Histories
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Node, Snapshot
from tests.programs import workflow_id

Said = tuple[str, str]
"""phase, path"""
BEGUN: list[Said] = [("RUNNING", ""), ("QUEUED", "n0"), ("RUNNING", "n0")]
DONE: list[Said] = [*BEGUN, ("SUCCEEDED", "n0"), ("SUCCEEDED", "")]


def named(name: str) -> ExecutionId:
    return ExecutionId("p", "d", name)


def facts(name: str, said: list[Said], first: int = 1) -> list[Fact]:
    return [Fact(named(name), number, 0.0, phase, path) for number, (phase, path) in enumerate(said, first)]


def stored(name: str, phase: str, sequence: int, node: str) -> Snapshot:
    record = Execution(
        named(name), workflow_id("w"), workflow_id("w"), "digest", ExecutionPhase(phase), sequence=sequence
    )
    return Snapshot(record, (Node("n0", NodeKind.TASK, NodePhase[node]),))


def found(told: list[Fact], *states: Snapshot, whole: bool = True) -> tuple[list[str], dict[str, int]]:
    """What is told, and of whom there is more than the states know."""
    kept = {state.execution.id: state for state in states}
    problems: list[str] = []
    histories = Histories(
        {id: state.execution.sequence for id, state in kept.items()},
        kept.get,
        lambda execution, problem: problems.append(f"{execution.name} {problem.node}: {problem.what}"),
        whole=whole,
    )
    for fact in told:
        histories.take(fact)
    return problems, {execution.name: count for execution, count in histories.finish().items()}


def mixed(*histories: list[Fact]) -> list[Fact]:
    """Each in its order, one among another."""
    waiting, chance, told = [list(each) for each in histories], random.Random(7), list[Fact]()
    while waiting := [each for each in waiting if each]:
        told.append(chance.choice(waiting).pop(0))
    return told


def test_those_that_agree() -> None:
    told = mixed(facts("a", DONE), facts("b", BEGUN), facts("c", DONE))
    assert found(told, stored("a", "SUCCEEDED", 5, "SUCCEEDED"), stored("b", "RUNNING", 3, "RUNNING")) == ([], {})


def test_what_goes_on_is_compared_with_what_was_told_up_to_its_state() -> None:
    told = mixed(facts("a", DONE), facts("b", DONE))
    states = stored("a", "RUNNING", 3, "RUNNING"), stored("b", "RUNNING", 3, "QUEUED")
    assert found(told, *states) == (["b n0: its state is attempt 0 QUEUED"], {"a": 5, "b": 5})


def test_a_state_that_knows_more_than_was_told() -> None:
    assert found(facts("a", BEGUN), stored("a", "RUNNING", 4, "RUNNING")) == (["a : its state knows 4 facts"], {})
    assert found([], stored("a", "RUNNING", 4, "RUNNING"))[0][0] == "a : its state knows 4 facts"


def test_one_that_has_no_state_is_new_or_was_forgotten_after_its_end() -> None:
    assert found(mixed(facts("new", BEGUN), facts("old", DONE))) == ([], {"new": 3})


@pytest.mark.parametrize("gap", [1, 2])
def test_a_gap(gap: int) -> None:
    told = facts("a", DONE)
    del told[gap]
    problems, _ = found(told, stored("a", "SUCCEEDED", 5, "SUCCEEDED"))
    assert problems[0] == f"a : fact {gap + 2} follows fact {gap}"


def test_a_name_that_was_used_again() -> None:
    """Whichever of the runs the state is of; the other one had none any more, or has none yet."""
    first = [*BEGUN, ("FAILING", "n0"), ("FAILED", "n0"), ("FAILING", ""), ("FAILED", "")]
    told = [*facts("a", first), *facts("a", BEGUN)]
    assert found(told, stored("a", "RUNNING", 3, "RUNNING"))[0] == []
    assert found(told, stored("a", "FAILED", 7, "FAILED"))[0] == []
    assert found(told, stored("a", "RUNNING", 3, "SUCCEEDED"))[0] == ["a n0: its state is attempt 0 SUCCEEDED"]


def test_where_the_beginning_is_not_kept_any_more_only_the_numbers_count() -> None:
    late = facts("a", DONE[2:], first=3)
    assert found(late, stored("a", "SUCCEEDED", 5, "SUCCEEDED"), whole=False) == ([], {})
    assert found(late, stored("a", "SUCCEEDED", 6, "SUCCEEDED"), whole=False)[0] == ["a : its state knows 6 facts"]
    assert found([], stored("a", "SUCCEEDED", 6, "SUCCEEDED"), whole=False) == ([], {})
    begun_since = mixed(late, facts("b", BEGUN))
    assert found(begun_since, stored("b", "RUNNING", 3, "QUEUED"), whole=False)[0] == [
        "b n0: its state is attempt 0 QUEUED"
    ]
