"""Failure nodes."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

UNTOLD = "local execution tells a failure node its own id as the one that failed"


def _told(entity: str, node: str, told: str, n: int = 3) -> Case:
    """Its clean-up notes the input, the node that failed, and whether the message says why."""
    return Case(
        "cleanup_forms",
        entity,
        {"path": "{here}/notes", "n": n},
        local=False,
        right=Wrong("USER:RuntimeError", "boom", node=node),
        left={"notes": told},
        why=UNTOLD,
    )


CASES = {
    "a-clean-up": _told("by_task", "n1", "3 n1 True;"),
    "a-clean-up-not-needed": Case("cleanup_forms", "not_needed", {"path": "{here}/notes", "n": 3}),
    "a-clean-up-by-a-plan": Case(
        "cleanup_forms",
        "by_plan",
        {"path": "{here}/notes", "n": 3},
        right=Wrong("USER:RuntimeError", "boom 3"),
    ),
    "a-clean-up-that-tries-again": Case(
        "cleanup_forms",
        "by_flaky_task",
        {"path": "{here}/notes", "n": 3},
        local=False,
        right=Wrong("USER:RuntimeError", "boom 3"),
        left={"notes": "try;try;try;"},
        why="local execution ignores retries",
    ),
    "a-clean-up-around-a-plan-with-one": _told("around_a_plan", "n0", "3 n1 True;cleaned 3;"),
    "a-clean-up-after-a-dynamic": _told("in_a_dynamic", "n0/0/dn1", "3 n0/0/dn1 True;"),
    "a-clean-up-after-an-arm": _told("in_an_arm", "n0/0/n0", "3 n0/0/n0 True;"),
    "a-clean-up-after-a-map": Case(
        "cleanup_forms",
        "in_a_map",
        {"path": "{here}/notes", "ns": [1, 2]},
        local=False,
        right=Wrong("USER:RuntimeError", "2 must succeed. First error, at n0["),
        left={"notes": "[1, 2] n0;"},
        why=UNTOLD,
    ),
    "a-clean-up-after-the-rest": Case(
        "cleanup_forms",
        "after_the_rest",
        {"path": "{here}/notes", "n": 3},
        local=False,
        right=Wrong("USER:RuntimeError", "boom 3"),
        left={"notes": "cleaned 5;cleaned 3;"},
        why="local execution stops at the first failure",
    ),
}
