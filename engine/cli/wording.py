"""Nodes and executions in a few words."""

from __future__ import annotations

import re

from engine.cli.document import attempts
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Elements, Node

_MAPPED = re.compile(r"map_(?P<task>.+)_[0-9a-f]{32}-arraynode\Z")
"""How flytekit names map tasks."""


def elapsed(node: Node, now: float) -> str:
    """How long a node has been running, or ran; "" before its start."""
    begin = node.started_at or node.queued_at
    if not begin or node.phase is NodePhase.SKIPPED:
        return ""
    return duration((node.ended_at or now) - begin)


def duration(seconds: float) -> str:
    """`40 ms`, `1.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    seconds = max(seconds, 0.0)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def progress(node: Node) -> str:
    """`12 of 20 done, 1 failed, 4 running`; "" for a node that is no map, or whose size is not known yet."""
    elements = node.elements
    if elements is None:
        return ""
    parts = [f"{done(elements)} of {elements.size} done"]
    if elements.failed:
        parts.append(f"{elements.failed} failed")
    if elements.live and node.phase not in TERMINAL:
        parts.append(f"{elements.live} running")
    return ", ".join(parts)


def done(elements: Elements) -> int:
    """Elements that have ended, in whatever way."""
    return elements.next - elements.live


def tries(node: Node) -> str:
    """`attempt 3` from the second attempt on."""
    count = attempts(node)
    return f"attempt {count}" if count > 1 else ""


def short(name: str) -> str:
    """The last part of a dotted name, of a map the name of the task it maps: `add` for `flows.chain.add`."""
    last = name.rpartition(".")[2]
    mapped = _MAPPED.match(last)
    return mapped["task"] if mapped else last
