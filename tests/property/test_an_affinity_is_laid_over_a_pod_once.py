"""The affinity of an architecture, laid over that of a pod: once is enough, and what the pod requires still holds."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.machine.affinity import both
from engine.machine.podpins import REQUIRED

KEYS, VALUES = ("zone", "disk"), ("a", "b")
rules = st.builds(
    lambda key, values: {"key": key, "operator": "In", "values": sorted(values)},
    st.sampled_from(KEYS),
    st.sets(st.sampled_from(VALUES), min_size=1),
)
terms = st.lists(st.builds(lambda it: {"matchExpressions": it}, st.lists(rules, min_size=1, max_size=3)), max_size=3)
preferred = st.lists(st.builds(lambda weight: {"weight": weight}, st.integers(1, 3)), max_size=3, unique_by=str)
affinities = st.fixed_dictionaries(
    {},
    optional={
        "nodeAffinity": st.fixed_dictionaries(
            {},
            optional={
                REQUIRED: st.builds(lambda it: {"nodeSelectorTerms": it}, terms.filter(bool)),
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            },
        ),
        "podAntiAffinity": st.fixed_dictionaries({}, optional={REQUIRED: preferred}),
    },
)
Json = dict[str, Any]
NODES = [dict(zip(KEYS, values, strict=True)) for values in product(VALUES, VALUES)]


def fits(node: dict[str, str], affinity: Json) -> bool:
    """As the scheduler decides: one of the terms, and all rules of it."""
    found = affinity.get("nodeAffinity", {}).get(REQUIRED)
    if found is None:
        return True
    return any(
        all(node[it["key"]] in it["values"] for it in term["matchExpressions"]) for term in found["nodeSelectorTerms"]
    )


@given(affinities, affinities)
def test_nodes_fit_that_fit_both(own: Json, other: Json) -> None:
    laid = both(own, other)
    assert [fits(node, laid) for node in NODES] == [fits(node, own) and fits(node, other) for node in NODES]


@given(affinities, affinities)
def test_a_second_time_adds_nothing(own: Json, other: Json) -> None:
    laid = both(own, other)
    assert both(laid, other) == laid
