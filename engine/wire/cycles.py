"""Finds what waits for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def cycles(needs: Mapping[Name, Iterable[Name]]) -> Iterator[list[Name]]:
    """Cycles of "needs" that share no member: `[a, b]` means that a needs b and b needs a. Linear for one without any.

    Names that are needed but not among the keys are left out.
    """
    edges = {name: [need for need in wanted if need in needs] for name, wanted in needs.items()}
    left = _unresolvable(edges)
    while left:
        cycle = _walk(left)
        yield cycle
        taken = set(cycle)
        left = _unresolvable(
            {name: [need for need in wanted if need not in taken] for name, wanted in left.items() if name not in taken}
        )


def _unresolvable(edges: Mapping[Name, list[Name]]) -> dict[Name, list[Name]]:
    """What is left after everything whose needs are met was taken out, again and again: cycles and what needs them."""
    needed_by: dict[Name, list[Name]] = {name: [] for name in edges}
    open_needs = {name: len(wanted) for name, wanted in edges.items()}
    for name, wanted in edges.items():
        for need in wanted:
            needed_by[need].append(name)
    ready = [name for name, count in open_needs.items() if count == 0]
    while ready:
        done = ready.pop()
        del open_needs[done]
        for name in needed_by[done]:
            open_needs[name] -= 1
            if open_needs[name] == 0:
                ready.append(name)
    return {name: [need for need in edges[name] if need in open_needs] for name in open_needs}


def _walk(left: Mapping[Name, list[Name]]) -> list[Name]:
    """Follow the first need of each until a name comes again: everything in `left` needs something in `left`."""
    path: dict[Name, int] = {}
    name = next(iter(left))
    while name not in path:
        path[name] = len(path)
        name = left[name][0]
    return list(path)[path[name] :]
