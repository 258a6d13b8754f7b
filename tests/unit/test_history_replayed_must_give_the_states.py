"""The replay of facts: gaps, jumps, attempts out of turn and states that differ are each named."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.machine import arrays
from engine.machine.replay import MAX_PROBLEMS, Replay
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.phases import EXECUTION_TERMINAL, EXECUTION_TRANSITIONS, ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Node, Snapshot
from tests.programs import workflow_id

E1 = ExecutionId("p", "d", "e1")
Said = tuple[str, str, int | None, int]
"""phase, path, index, attempt"""
RUN: list[Said] = [("RUNNING", "", None, 0), ("QUEUED", "n0", None, 0), ("RUNNING", "n0", None, 0)]


def facts(*said: Said) -> list[Fact]:
    return [
        Fact(E1, number, 0.0, phase, path, index, attempt)
        for number, (phase, path, index, attempt) in enumerate(said, 1)
    ]


def stored(phase: str = "RUNNING", sequence: int = 3, *nodes: Node) -> Snapshot:
    record = Execution(E1, workflow_id("w"), workflow_id("w"), "digest", ExecutionPhase(phase), sequence=sequence)
    return Snapshot(record, nodes)


N0 = Node("n0", NodeKind.TASK, NodePhase.RUNNING)


def problems(history: list[Fact], snapshot: Snapshot) -> list[tuple[str, str, str]]:
    replay = Replay()
    replay.take(history)
    return [(found.node, found.what, found.expected) for found in replay.against(snapshot)]


def test_a_history_that_agrees() -> None:
    assert problems(facts(*RUN), stored("RUNNING", 3, N0)) == []
    tried = [*RUN, ("RETRYABLE_FAILURE", "n0", None, 0), ("QUEUED", "n0", None, 1), ("SUCCEEDED", "n0", None, 1)]
    done = structs.replace(N0, phase=NodePhase.SUCCEEDED, attempt=1)
    assert problems(facts(*tried, ("SUCCEEDED", "", None, 0)), stored("SUCCEEDED", 7, done)) == []


@pytest.mark.parametrize(
    ("history", "snapshot", "found"),
    [
        (
            [*facts(*RUN)[:2], structs.replace(facts(*RUN)[2], sequence=4)],
            stored("RUNNING", 4, N0),
            ("", "fact 4 follows fact 2", "fact 3"),
        ),
        (facts(*RUN), stored("RUNNING", 5, N0), ("", "its state knows 5 facts", "3, as its history has")),
        (facts(*RUN), stored("FAILING", 3, N0), ("", "its state is FAILING", "RUNNING, as its history ends")),
        (facts(*RUN), stored(), ("n0", "has no state", "attempt 0 RUNNING, as its history ends")),
        (
            facts(*RUN[:1]),
            stored("RUNNING", 1, N0),
            ("n0", "its state is RUNNING", "no state: history does not know it"),
        ),
        (
            facts(*RUN),
            stored("RUNNING", 3, structs.replace(N0, attempt=1)),
            ("n0", "its state is attempt 1 RUNNING", "attempt 0 RUNNING, as its history ends"),
        ),
        (
            facts(*RUN, ("SUCCEEDED", "n0", None, 0), ("SUCCEEDED", "n0", None, 0)),
            stored("RUNNING", 5, structs.replace(N0, phase=NodePhase.SUCCEEDED)),
            ("n0", "fact 5: from SUCCEEDED to SUCCEEDED", "a transition of the table of phases"),
        ),
        (
            facts(*RUN, ("SUCCEEDED", "n0", None, 1)),
            stored("RUNNING", 4, structs.replace(N0, phase=NodePhase.SUCCEEDED, attempt=1)),
            ("n0", "fact 4 says attempt 1 is SUCCEEDED", "attempt 0, after attempt 0 was RUNNING"),
        ),
        (
            facts(*RUN, ("READY", "", None, 0)),
            stored("READY", 4, N0),
            ("", "fact 4: from RUNNING to READY", "a transition of the table of phases"),
        ),
        (
            facts(*RUN, ("DANCING", "n0", None, 0)),
            stored("RUNNING", 4, N0),
            ("n0", "fact 4: 'DANCING' is no phase of a node", "a phase of this version"),
        ),
    ],
)
def test_a_contradiction_is_named(history: list[Fact], snapshot: Snapshot, found: tuple[str, str, str]) -> None:
    assert problems(history, snapshot) == [found]


def test_elements_are_replayed_too() -> None:
    said = [("QUEUED", "n0", 1, 0), ("RETRYABLE_FAILURE", "n0", 1, 0), ("QUEUED", "n0", 1, 1), ("ABORTED", "n0", 1, 1)]
    elements = arrays.with_element(arrays.created(3), 1, NodePhase.ABORTED, 1)
    mapped = structs.replace(N0, kind=NodeKind.ARRAY, elements=elements)
    assert problems(facts(*RUN, *said), stored("RUNNING", 7, mapped)) == []
    other = structs.replace(mapped, elements=arrays.with_element(elements, 2, NodePhase.RUNNING))
    assert problems(facts(*RUN, *said), stored("RUNNING", 7, other)) == [
        ("n0[2]", "its state is attempt 0 RUNNING", "attempt 0 NOT_YET_STARTED, as its history ends")
    ]
    fewer = structs.replace(mapped, elements=arrays.created(1))
    assert problems(facts(*RUN, *said), stored("RUNNING", 7, fewer)) == [
        ("n0", "has 1 elements", "2 or more, as history names them")
    ]


def test_a_damaged_history_brings_a_bounded_list() -> None:
    assert len(problems(facts(*RUN, *[RUN[1]] * 3 * MAX_PROBLEMS), stored("RUNNING", 303, N0))) == MAX_PROBLEMS


def test_every_execution_phase_that_has_an_end_reaches_it() -> None:
    assert EXECUTION_TERMINAL.isdisjoint(EXECUTION_TRANSITIONS)
    assert frozenset().union(*EXECUTION_TRANSITIONS.values()) >= EXECUTION_TERMINAL
