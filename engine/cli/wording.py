"""Nodes and executions in a few words."""

from __future__ import annotations

import re
from enum import StrEnum
from unicodedata import east_asian_width

from engine.gateway.document import attempts
from engine.machine.arrays import attempt_of, count, phase_of
from engine.model.cache import CacheStatus
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Elements, Node


class Group(StrEnum):
    """Nodes that people take together, the most telling first."""

    FAILED = "failed"
    RUNNING = "running"
    QUEUED = "queued"
    ABORTED = "aborted"
    DONE = "done"
    SKIPPED = "skipped"


GROUPS = dict.fromkeys(NodePhase, Group.RUNNING) | {
    NodePhase.FAILED: Group.FAILED,
    NodePhase.TIMED_OUT: Group.FAILED,
    NodePhase.QUEUED: Group.QUEUED,
    NodePhase.ABORTED: Group.ABORTED,
    NodePhase.SUCCEEDED: Group.DONE,
    NodePhase.RECOVERED: Group.DONE,
    NodePhase.SKIPPED: Group.SKIPPED,
}
"""Whatever is neither queued nor at its end runs: an attempt, a clean-up, a gather."""

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


def progress(node: Node, now: float, rate: float | None = None) -> str:
    """`12 of 20 done, 1 of them failed, 4 running, 3.1/s, 3 s left`; "" for what is no map, or of unknown size yet.

    `rate`: elements a second of late; without one, the average since the node's start.
    """
    elements = node.elements
    if elements is None:
        return ""
    ended = done(elements)
    parts = [f"{ended} of {elements.size} done"]
    if elements.failed:
        parts.append(f"{elements.failed} of them failed")
    if elements.live and node.phase not in TERMINAL and (running := count(elements, NodePhase.RUNNING)):
        parts.append(f"{running} running")
    if elements.cached:
        parts.append(f"{elements.cached} cached")
    if elements.recovered:
        parts.append(f"{elements.recovered} taken over")
    rate = average(node, now) if rate is None else rate
    if rate and (node.phase in TERMINAL or ended < elements.size):
        parts.append(f"{rate:.0f}/s" if rate >= 9.95 else f"{rate:.2g}/s")
        if node.phase is NodePhase.RUNNING:
            parts.append(f"{duration((elements.size - ended) / rate)} left")
    return ", ".join(parts)


def done(elements: Elements) -> int:
    """Elements that have come to their end: they succeeded or failed; what was aborted did neither."""
    return elements.succeeded + elements.failed


def attempts_of_element(elements: Elements, index: int) -> int:
    """How often an element of a map was tried."""
    return 0 if phase_of(elements, index) is NodePhase.NOT_YET_STARTED else attempt_of(elements, index) + 1


def average(node: Node, now: float) -> float:
    """Elements of a map that have run to their end, a second; 0 where there is nothing to tell."""
    seconds = (node.ended_at or now) - node.started_at
    if node.elements is None or not node.started_at or seconds <= 0:
        return 0.0
    return (done(node.elements) - node.elements.recovered) / seconds


def tries(node: Node) -> str:
    """`attempt 3`, once the node has ended `3 attempts`; "" for the first attempt."""
    tried = attempts(node)
    if tried < 2:
        return ""
    return f"{tried} attempts" if node.terminal else f"attempt {tried}"


_CACHE = {
    CacheStatus.HIT: "cached",
    CacheStatus.SKIPPED: "overwrites the cache",
    CacheStatus.LOOKUP_FAILURE: "the cache could not be asked",
    CacheStatus.PUT_FAILURE: "its result could not be cached",
}


def cached(node: Node) -> str:
    """What the cache did for a task, where that is not what everybody expects of a task that has run."""
    return _CACHE.get(node.cache, "") if node.cache is not None else ""


def plain(text: str) -> str:
    """Text of others (the name of a task, an id) that must not steer a terminal."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "?" for sign in text)


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(sign) in "WF") for sign in text)


def padded(text: str, columns: int) -> str:
    """A text and as many spaces as make it fill the columns."""
    return text + " " * (columns - width(text))


def short(name: str) -> str:
    """The last part of a dotted name, of a map the name of the task it maps: `add` for `flows.chain.add`."""
    last = name.rpartition(".")[2]
    mapped = _MAPPED.match(last)
    return mapped["task"] if mapped else last
