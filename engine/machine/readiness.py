"""When a node may start: recomputed from stored state, so no wake-up can be lost."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from engine.model.graph import NodeSpec
from engine.model.phases import SATISFIED, TERMINAL, NodePhase


class Readiness(Enum):
    WAIT = "wait"
    READY = "ready"
    SKIP = "skip"


def readiness(spec: NodeSpec, phase_of: Callable[[str], NodePhase]) -> Readiness:
    """READY when all upstream nodes succeeded; SKIP when all are terminal but not all succeeded; else WAIT."""
    skip = False
    for upstream in spec.upstream:
        phase = phase_of(upstream)
        if phase not in TERMINAL:
            return Readiness.WAIT
        skip = skip or phase not in SATISFIED
    return Readiness.SKIP if skip else Readiness.READY


def ended(spec: NodeSpec, phase_of: Callable[[str], NodePhase], first: int) -> int:
    """How many upstream nodes, from the first on, have ended; `first` of them are known to have."""
    while first < len(spec.upstream) and phase_of(spec.upstream[first]) in TERMINAL:
        first += 1
    return first
