"""Pod templates."""

from __future__ import annotations

from tests.service.cases import Case

NO_PODS = "local execution sets no environment"
CASES = {
    "pod-templates": Case(
        "pods",
        "pods",
        {"n": 3},
        local=False,
        right={"o0": "3 yes ✓ mine", "o1": 9},
        why=NO_PODS,
        needs="kubernetes-client",
    ),
    "mapped-pod-templates": Case(
        "pods",
        "mapped_pods",
        {"ns": [1, 2]},
        local=False,
        right={"o0": ["1 yes ✓ mine", "2 yes ✓ mine"]},
        why=NO_PODS,
        needs="kubernetes-client",
    ),
    "an-overridden-pod-template": Case(
        "pods",
        "overridden_pod",
        {"n": 3},
        local=False,
        right={"o0": "3 overridden mine"},
        why=NO_PODS,
        needs="kubernetes-client",
    ),
}
