"""References to registered tasks and launch plans."""

from __future__ import annotations

from tests.service.cases import Case


def _by_hand(entity: str, inputs: dict[str, object], **outputs: object) -> Case:
    return Case("references", entity, inputs, local=False, right=outputs, why="local execution runs no references")


CASES = {
    "reference-tasks": _by_hand("tasks", {"n": 3}, o0=12, o1="y3None", o2="x33"),
    "reference-plans": _by_hand("plans", {"n": 3}, o0=6, o1="fixed3None", o2=12, o3="given6None"),
    "mapped-reference-tasks": _by_hand("mapped", {"ns": [1, 2, 3]}, o0=[2, 4, 6], o1=12),
    "no-mapped-reference-tasks": _by_hand("mapped", {"ns": []}, o0=[], o1=0),
    "reference-tasks-as-arms": _by_hand("in_arms", {"n": 4}, o0=8),
    "reference-plans-in-a-dynamic": _by_hand("in_a_dynamic", {"n": 3}, o0=6),
}
