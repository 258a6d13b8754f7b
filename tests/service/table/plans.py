"""Launch plans: their defaults and fixed inputs, plans of plans, children that fail, plans that are run by name."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

CASES = {
    "plans-with-defaults-and-fixed-inputs": Case("launching", "calls", {"n": 3}),
    "a-plan-of-plans": Case("launching", "plan_of_plan"),
    "the-same-plan-twice": Case("launching", "twice", {"n": 2}),
    "a-child-that-could-fail": Case("launching", "calls_failing", {"n": 1}),
    "plans-in-order-without-data": Case("launching", "ordered", {"n": 1}),
    "inputs-passed-through-a-plan": Case("launching", "passes", {"n": 4}),
    "a-plan-with-rich-inputs": Case("launching", "calls_rich"),
    "a-child-fails": Case("launching", "calls_failing", {"n": 4}, right=Wrong("USER:RuntimeError", "boom 4")),
    "a-deep-child-fails": Case(
        "launching", "in_a_sub", {"n": 4}, right=Wrong("USER:RuntimeError", "boom 4", node="n0/0/n0")
    ),
    "a-plan-by-name": Case("launching", "eager_plan", called="with-defaults"),
    "a-plan-with-an-input": Case("launching", "fixed", {"c": "q"}, called="with.fixed"),
    "a-plan-with-all-fixed": Case("launching", "all_fixed", called="All_Fixed"),
    "a-rich-plan-by-name": Case("launching", "rich_plan", called="rich-plan"),
    "a-plan-with-an-odd-name": Case("features", "wf_odd_plan"),
}
