"""How fast the maps of a live view go of late: an average since the start would carry every pause along."""

from __future__ import annotations

from collections import deque

from engine.cli.wording import done
from engine.model.phases import NodePhase
from engine.model.state import Node

STEP_SECONDS = 1.0
"""Between two looks that are remembered."""
STEPS = 30
"""Looks that are remembered of a map."""


class Pace:
    def __init__(self) -> None:
        self._looks: dict[str, deque[tuple[float, int]]] = {}
        """Of each map: moments, and the elements that had ended by then."""

    def rate(self, place: str, node: Node, now: float) -> float | None:
        """Elements a second; None where the view has not seen enough yet, or the map has ended."""
        if node.elements is None or node.phase is not NodePhase.RUNNING:
            self._looks.pop(place, None)
            return None
        looks = self._looks.setdefault(place, deque(maxlen=STEPS))
        ended = done(node.elements)
        if not looks or now - looks[-1][0] >= STEP_SECONDS:
            looks.append((now, ended))
        begun, before = looks[0]
        return (ended - before) / (now - begun) if now - begun >= STEP_SECONDS else None
