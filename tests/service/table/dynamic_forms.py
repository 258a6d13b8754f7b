"""Dynamic tasks: forms of outputs, depth, conditions and launch plans in a plan."""

from __future__ import annotations

from tests.service.cases import Case

CASES = {
    "a-dynamic-loop": Case("dynamic_forms", "wf_loop", {"n": 4}),
    "a-dynamic-loop-of-one": Case("dynamic_forms", "wf_loop", {"n": 0}),
    "dynamic-lists-and-dicts": Case("dynamic_forms", "wf_collected", {"n": 3}),
    "empty-dynamic-lists-and-dicts": Case("dynamic_forms", "wf_collected", {"n": 0}),
    "a-dynamic-with-several-outputs": Case("dynamic_forms", "wf_several", {"n": 3}),
    "a-dynamic-with-named-outputs": Case("dynamic_forms", "wf_named", {"ns": [4, 2, 9]}),
    "a-dynamic-without-nodes": Case("dynamic_forms", "wf_no_nodes", {"n": 3}),
    "a-dynamic-without-outputs": Case("dynamic_forms", "wf_no_outputs", {"n": 2}),
    "a-dynamic-six-deep": Case("dynamic_forms", "wf_recursion", {"n": 6}),
    "a-dynamic-with-maps": Case("dynamic_forms", "wf_maps", {"ns": [1, 2, 3]}),
    "a-dynamic-with-empty-maps": Case("dynamic_forms", "wf_maps", {"ns": []}),
    "a-dynamic-with-sub-workflows": Case("dynamic_forms", "wf_subs", {"n": 3}),
    "a-dynamic-with-plans": Case("dynamic_forms", "wf_plans", {"n": 3}),
    "a-dynamic-in-order": Case(
        "dynamic_forms",
        "wf_in_order",
        {"path": "{here}/said"},
        local=False,
        right={"o0": "abc"},
        why="local execution runs nodes in the order of their calls",
    ),
    "dynamics-in-dynamics": Case("dynamic_forms", "wf_dynamics_in_dynamics", {"n": 2}),
    "a-dynamic-given-a-dataclass": Case("dynamic_forms", "wf_of_fields", {"start": 5}),
    "a-dynamic-of-many-nodes": Case("dynamic_forms", "wf_wide", {"n": 8}),
    "the-same-dynamic-again": Case("dynamic_forms", "wf_twice", {"n": 3}),
}
