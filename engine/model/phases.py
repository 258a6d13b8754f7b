"""Phases of nodes and executions, and the one table of node transitions.

Numbers 0 to 12 are Flyte 1's own. ABORTING and ABORTED exist there only as events; here they are phases, so that a node
whose clean-up is unfinished is on the to-do list like any other.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class NodePhase(IntEnum):
    NOT_YET_STARTED = 0
    QUEUED = 1
    RUNNING = 2
    FAILING = 3
    SUCCEEDING = 4
    SUCCEEDED = 5
    FAILED = 6
    SKIPPED = 7
    RETRYABLE_FAILURE = 8
    TIMING_OUT = 9
    TIMED_OUT = 10
    DYNAMIC_RUNNING = 11
    RECOVERED = 12
    ABORTING = 13
    ABORTED = 14

    # Enum's own hash runs in Python, and phases are looked up at every step.
    __hash__ = int.__hash__


class ExecutionPhase(StrEnum):
    READY = "READY"
    RUNNING = "RUNNING"
    SUCCEEDING = "SUCCEEDING"
    SUCCEEDED = "SUCCEEDED"
    FAILING = "FAILING"
    HANDLING_FAILURE_NODE = "HANDLING_FAILURE_NODE"
    FAILED = "FAILED"
    ABORTING = "ABORTING"
    ABORTED = "ABORTED"

    __hash__ = str.__hash__


_P = NodePhase

TERMINAL = frozenset({_P.SUCCEEDED, _P.FAILED, _P.SKIPPED, _P.TIMED_OUT, _P.RECOVERED, _P.ABORTED})
LIVE = frozenset(_P) - TERMINAL - {_P.NOT_YET_STARTED}
SATISFIED = frozenset({_P.SUCCEEDED, _P.RECOVERED})
"""Terminal phases that let a downstream node start."""
EXECUTION_TERMINAL = frozenset({ExecutionPhase.SUCCEEDED, ExecutionPhase.FAILED, ExecutionPhase.ABORTED})
EXECUTION_CLOSING = frozenset(
    {ExecutionPhase.FAILING, ExecutionPhase.HANDLING_FAILURE_NODE, ExecutionPhase.ABORTING}
) | (EXECUTION_TERMINAL)
"""Phases in which no further node of the graph may start."""

TRANSITIONS: dict[NodePhase, dict[NodePhase, str]] = {
    _P.NOT_YET_STARTED: {
        _P.QUEUED: "ready",
        _P.RUNNING: "ready, nothing to prepare",
        _P.SUCCEEDED: "ready, nothing to do (start-node, cache hit)",
        _P.SKIPPED: "a predecessor failed, was skipped or timed out",
        _P.FAILING: "inputs can't be resolved",
        _P.RECOVERED: "succeeded in the recovered execution",
    },
    _P.QUEUED: {
        _P.RUNNING: "started",
        _P.SUCCEEDING: "success decided",
        _P.SUCCEEDED: "success, nothing to finalise",
        _P.RETRYABLE_FAILURE: "attempt failed, budget left",
        _P.FAILING: "failure decided",
        _P.FAILED: "failure, nothing to clean up",
        _P.TIMING_OUT: "deadline passed",
        _P.ABORTING: "aborted",
    },
    _P.RUNNING: {
        _P.DYNAMIC_RUNNING: "the task wrote a plan",
        _P.SKIPPED: "what the chosen arm waits for failed or was skipped",
        _P.SUCCEEDING: "success decided",
        _P.SUCCEEDED: "success, nothing to finalise",
        _P.RETRYABLE_FAILURE: "attempt failed, budget left",
        _P.FAILING: "failure decided",
        _P.FAILED: "failure, nothing to clean up",
        _P.TIMING_OUT: "deadline passed",
        _P.ABORTING: "aborted",
    },
    _P.DYNAMIC_RUNNING: {
        _P.SUCCEEDING: "success decided",
        _P.SUCCEEDED: "success, nothing to finalise",
        _P.RETRYABLE_FAILURE: "attempt failed, budget left",
        _P.FAILING: "failure decided",
        _P.FAILED: "failure, nothing to clean up",
        _P.TIMING_OUT: "deadline passed",
        _P.ABORTING: "aborted",
    },
    _P.RETRYABLE_FAILURE: {
        _P.QUEUED: "next attempt",
        _P.ABORTING: "aborted",
    },
    _P.SUCCEEDING: {
        _P.SUCCEEDED: "finalised",
        _P.RETRYABLE_FAILURE: "finalising failed, budget left",
        _P.FAILING: "failure decided",
        _P.FAILED: "finalising failed",
        _P.ABORTING: "aborted",
    },
    _P.FAILING: {
        _P.FAILED: "cleaned up",
        _P.ABORTING: "aborted",
    },
    _P.TIMING_OUT: {
        _P.TIMED_OUT: "cleaned up",
        _P.ABORTING: "aborted",
    },
    _P.ABORTING: {
        _P.ABORTED: "cleaned up",
    },
}
"""from -> to -> why. A transition that is not here is a defect and raises; terminal phases have no way out."""

REOPENINGS: dict[NodePhase, str] = {
    _P.FAILED: "a person asks for one more attempt",
    _P.TIMED_OUT: "a person asks for one more attempt",
    _P.SKIPPED: "a predecessor is tried again",
}
"""Terminal phase -> why a node may go from it back to NOT_YET_STARTED: only where a person asks for that, while the
execution runs (engine.machine.retries)."""

_E = ExecutionPhase
EXECUTION_TRANSITIONS: dict[ExecutionPhase, frozenset[ExecutionPhase]] = {
    _E.READY: frozenset({_E.RUNNING, _E.FAILING}),
    _E.RUNNING: frozenset({_E.SUCCEEDED, _E.FAILING, _E.ABORTING}),
    _E.FAILING: frozenset({_E.FAILED, _E.FAILING, _E.HANDLING_FAILURE_NODE, _E.ABORTING}),
    _E.HANDLING_FAILURE_NODE: frozenset({_E.FAILED, _E.FAILING, _E.ABORTING}),
    _E.ABORTING: frozenset({_E.ABORTED, _E.FAILING}),
}
"""from -> to, of executions. Into FAILING from READY, FAILING, HANDLING_FAILURE_NODE and ABORTING only where the
engine gives one up."""


def allowed(old: NodePhase, new: NodePhase) -> bool:
    return new in TRANSITIONS.get(old, {})


def mermaid() -> str:
    """The table as a Mermaid state diagram, as ARCHITECTURE.md shows it (a test compares the two)."""
    lines = ["stateDiagram-v2", "    [*] --> NOT_YET_STARTED"]
    for old, ways in TRANSITIONS.items():
        lines += [f"    {old.name} --> {new.name}: {why}" for new, why in ways.items()]
    lines += [f"    {old.name} --> {_P.NOT_YET_STARTED.name}: {why}" for old, why in REOPENINGS.items()]
    lines += [f"    {phase.name} --> [*]" for phase in sorted(TERMINAL)]
    return "\n".join(lines)
