"""The order in which people read nodes: as the graph runs, what lies inside a node right after it."""

from __future__ import annotations

import heapq
import re

from engine.machine.execution import ExecutionState
from engine.model.graph import Graph
from engine.model.ids import EntityId, split

Part = tuple[int, tuple[int | str, ...]]
Key = tuple[Part | int, ...]
"""Compares paths part by part: (rank, id) of a node, then the attempt of a containing node, and so on."""

_UNRANKED = 1 << 30


class NodeOrder:
    """Remembers the ranks of each workflow, so that a key costs no walk over the graph."""

    def __init__(self) -> None:
        self._ranks: dict[tuple[str, EntityId], dict[str, int]] = {}

    def key(self, path: str, state: ExecutionState) -> Key:
        """Sorts the paths of one execution. Where its program is not there (it can't be read) ids alone decide."""
        frame, node_id = split(path)
        part: Key = ((self._rank(state, frame, node_id), _natural(node_id)),)
        if not frame:
            return part
        containing, attempt = split(frame)
        return (*self.key(containing, state), int(attempt), *part)

    def _rank(self, state: ExecutionState, frame: str, node_id: str) -> int:
        try:
            found = state.frame(frame)
        except KeyError:
            return _UNRANKED
        graph = found.graph
        if found.scope != found.prefix:  # what a branch chooses from: in the order of its conditions
            return list(graph.nodes).index(node_id)
        known = (found.program.digest, graph.id)
        if known not in self._ranks:
            self._ranks[known] = ranks(graph)
        return self._ranks[known].get(node_id, _UNRANKED)


def ranks(graph: Graph) -> dict[str, int]:
    """Node id -> its place as the author wrote the nodes.

    If they can't run in that order it is the place in topological order; where the graph leaves a choice, n2 comes
    before n10.
    """
    written = {node_id: place for place, node_id in enumerate(graph.nodes)}
    if all(written[node_id] < written[waiting] for node_id, found in graph.downstream.items() for waiting in found):
        return written
    missing = dict.fromkeys(graph.nodes, 0)
    for waiting in graph.downstream.values():
        for node_id in waiting:
            missing[node_id] += 1
    names = sorted(missing, key=lambda node_id: (_natural(node_id), node_id))
    places = {node_id: place for place, node_id in enumerate(names)}
    ready = [places[node_id] for node_id in names if missing[node_id] == 0]
    found: dict[str, int] = {}
    while ready:
        node_id = names[heapq.heappop(ready)]
        found[node_id] = len(found)
        for downstream in graph.downstream.get(node_id, ()):
            missing[downstream] -= 1
            if missing[downstream] == 0:
                heapq.heappush(ready, places[downstream])
    return found


def _natural(node_id: str) -> tuple[int | str, ...]:
    """Text and numbers by turns, text first: `n10` gives ("n", 10, "")."""
    text = node_id.rstrip("0123456789")
    if text.isalpha():  # what flytekit makes, and most that people choose
        return (text, int(node_id[len(text) :]), "") if len(text) < len(node_id) else (text,)
    return tuple(int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", node_id))
