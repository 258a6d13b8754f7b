"""Dynamic tasks: recursion, plans inside plans, everything that may stand in a plan, plans that fail."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

NO_RETRIES = "local execution ignores retries"
NONE = "local execution takes None from a dynamic task for no output"
INLINE = "local execution raises inside the dynamic task, which is one node there"
CASES = {
    "a-plan-of-squares": Case("dynamics", "wf_squares", {"n": 4}),
    "a-plan-of-nothing": Case("dynamics", "wf_squares", {"n": 0}),
    "outputs-of-a-plan-in-a-list": Case("dynamics", "wf_list", {"n": 3}),
    "recursion": Case("recursion", "wf_fib", {"n": 4}),
    "no-recursion": Case("recursion", "wf_fib", {"n": 1}),
    "recursion-through-sub-workflows": Case("recursion", "wf_sort", {"xs": [5, 3, 9, 3]}),
    "recursion-through-a-conditional": Case("recursion", "wf_sort_by_branch", {"xs": [4, 2, 3, 1]}),
    "a-sleep-in-a-plan": Case("dynamic_frames", "wf_sleeps", {"n": 3}),
    "the-first-arm-in-a-plan": Case("dynamic_frames", "wf_chooses", {"n": 2}),
    "the-second-arm-in-a-plan": Case("dynamic_frames", "wf_chooses", {"n": 7}),
    "no-arm-in-a-plan": Case(
        "dynamic_frames", "wf_chooses", {"n": 8}, right=Wrong("UserProvidedError", "too large", node="n0/0/dn1")
    ),
    "a-plan-in-an-arm": Case("dynamic_frames", "wf_chosen", {"n": 2}),
    "a-plan-in-an-arm-not-taken": Case("dynamic_frames", "wf_chosen", {"n": 4}),
    "a-failure-node-in-a-plan": Case("dynamic_frames", "wf_cleans", {"n": 3}),
    "a-plan-in-a-failure-node-in-a-plan": Case(
        "dynamic_frames", "wf_cleans", {"n": 4}, right=Wrong("USER:RuntimeError", "4 is even", node="n0/0/dn0/0/dn0")
    ),
    "everything-in-a-plan": Case("dynamics", "wf_everything", {"n": 3}),
    "a-map-over-a-plan-in-a-plan": Case("dynamics", "wf_over_plan", {"n": 3}),
    "a-plan-that-is-a-constant": Case("dynamics", "wf_constant", {"n": 3}),
    "dataclasses-in-a-plan": Case("dynamics", "wf_records", {"n": 3}),
    "files-out-of-a-plan": Case("dynamics", "wf_files", {"n": 2}),
    "order-in-a-plan": Case("dynamics", "wf_speaks", {"texts": ["a", "b", "c"], "path": "{here}/said"}),
    "an-optional-for-a-plan": Case("dynamics", "wf_maybe", {"n": 4}),
    "none-for-a-plan": Case("dynamics", "wf_maybe", local=False, right={"o0": None}, why=NONE),
    "plans-in-sub-workflows-and-children": Case("dynamics", "wf_deep", {"n": 3}),
    "plans-in-a-row": Case("dynamics", "wf_chained", {"n": 3}),
    "retries-in-a-plan": Case(
        "dynamics",
        "wf_tries",
        {"path": "{here}/tried"},
        local=False,
        right={"o0": 7},
        why=NO_RETRIES,
    ),
    "all-odd": Case("dynamics", "wf_odd", {"n": 5}),
    "a-node-of-a-plan-fails": Case(
        "dynamics", "wf_odd", {"n": 4}, right=Wrong("USER:RuntimeError", "4 is even", node="n0/0/dn2")
    ),
    "a-dynamic-task-raises": Case("dynamics", "wf_raises", {"n": 4}, right=Wrong("USER:RuntimeError", "no plan for 4")),
    "a-plan-gives-the-wrong-type": Case(
        "dynamics",
        "wf_gives_text",
        {"n": 4},
        local=False,
        right=Wrong("DynamicWorkflowBuildFailed", "output 'o0' is given str"),
        why=INLINE,
    ),
}
