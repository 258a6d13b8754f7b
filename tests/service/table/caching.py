"""Cached tasks: how often each really ran."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

OWN_CACHE = "local execution has a cache of its own, which outlives it"


def _by_hand(entity: str, **outputs: object) -> Case:
    inputs = {"path": "{here}/runs"} | ({"n": 3} if entity in ("twice", "other_values") else {})
    return Case("caching", entity, inputs, local=False, right=outputs, why=OWN_CACHE)


CASES = {
    "a-cached-task-twice": _by_hand("twice", o0=9, o1=9, o2="3;"),
    "a-cached-task-with-other-values": _by_hand("other_values", o0=9, o1=100, o2="3;10;"),
    "an-input-the-cache-ignores": _by_hand("ignoring", o0="1 a", o1="1 a", o2="a;"),
    "one-runs-and-the-others-wait": _by_hand("at_once", o0=[2] * 5, o1="1;"),
    "cached-by-the-authors-hash": _by_hand("hashed", o0="APPLE", o1="APPLE", o2="BANANA", o3="apple;banana;"),
    "cached-by-the-hashes-of-items": _by_hand(
        "hashed_items", o0="APPLE BEER", o1="APPLE BEER", o2="['apple', 'beer'];"
    ),
    "cached-elements-of-maps": _by_hand("mapped", o0=[1, 4, 9], o1=[16, 9, 4], o2="1;2;3;4;"),
    "a-cached-task-without-outputs": _by_hand("without_outputs", o0="1;1;"),
    "cached-nones": _by_hand("nothings", o0=None, o1=None, o2=0, o3="None;0;"),
    "cached-dicts-in-any-order": _by_hand("of_dicts", o0={"a": 1, "b": 0}, o1={"a": 1, "b": 0}, o2="['a', 'b'];"),
    "caching-overridden": _by_hand("overridden", o0="1;1;1;2;2;"),
    "a-cached-task-fails": Case(
        "caching", "failing", {"path": "{here}/runs"}, right=Wrong("USER:RuntimeError", "a failure is not kept")
    ),
    "cached-across-workflows": _by_hand("across", o0=25, o1=25, o2=25, o3="5;"),
    "a-cached-dynamic": _by_hand("dynamically", o0=5, o1=5, o2="plan 3;0;1;2;"),
}
