from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.model.phases import REOPENINGS, SATISFIED, TERMINAL, TRANSITIONS, NodePhase, allowed, mermaid

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
LIVE = set(NodePhase) - TERMINAL - {NodePhase.NOT_YET_STARTED}


def reachable(start: NodePhase) -> set[NodePhase]:
    seen, left = {start}, [start]
    while left:
        new = set(TRANSITIONS.get(left.pop(), {})) - seen
        seen |= new
        left += new
    return seen


def test_every_phase_can_be_reached_from_the_first() -> None:
    assert reachable(NodePhase.NOT_YET_STARTED) == set(NodePhase)


def test_a_terminal_phase_has_no_way_out() -> None:
    for phase in TERMINAL:
        assert reachable(phase) == {phase}
        assert not any(allowed(phase, other) for other in NodePhase)


@pytest.mark.parametrize("phase", sorted(set(NodePhase) - TERMINAL))
def test_every_other_phase_leads_to_a_terminal_one(phase: NodePhase) -> None:
    assert reachable(phase) & TERMINAL


@pytest.mark.parametrize("phase", sorted(LIVE - {NodePhase.ABORTING}))
def test_every_live_node_can_be_aborted(phase: NodePhase) -> None:
    assert allowed(phase, NodePhase.ABORTING)
    assert NodePhase.ABORTED in reachable(NodePhase.ABORTING)


def test_no_phase_follows_itself_and_nothing_goes_back_to_the_beginning() -> None:
    for old, ways in TRANSITIONS.items():
        assert old not in ways
        assert NodePhase.NOT_YET_STARTED not in ways


def test_an_attempt_starts_again_only_by_way_of_a_retryable_failure() -> None:
    assert {old for old, ways in TRANSITIONS.items() if NodePhase.QUEUED in ways} == {
        NodePhase.NOT_YET_STARTED,
        NodePhase.RETRYABLE_FAILURE,
    }


def test_only_what_did_not_succeed_may_be_opened_again() -> None:
    assert {*REOPENINGS} == TERMINAL - SATISFIED - {NodePhase.ABORTED}


def test_a_satisfied_phase_is_a_terminal_one() -> None:
    assert SATISFIED < TERMINAL


def test_the_diagram_in_the_architecture_is_the_table() -> None:
    diagrams = re.findall(r"```mermaid\n(.*?)\n```", ARCHITECTURE.read_text(), re.DOTALL)
    assert mermaid() in diagrams
