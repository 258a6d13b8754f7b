"""Conditionals."""

from __future__ import annotations

from tests.service.cases import Case, Wrong


def _by_hand(entity: str, inputs: dict[str, object], **outputs: object) -> Case:
    why = "local execution can't compare a step into a promise"
    return Case("compared_steps", entity, inputs, local=False, right=outputs, why=why)


CASES = {
    **{f"sizes-{n}".replace("--", "-minus-"): Case("conditions", "sizes", {"n": n}) for n in (-1, 0, 9, 10, 13)},
    "conditions-of-every-kind": Case("conditions", "kinds", {"i": 3, "f": 2.5, "s": "yes ✓", "b": True}),
    "conditions-of-every-kind-otherwise": Case("conditions", "kinds", {"i": 2, "f": 2.4, "s": "a", "b": False}),
    "and-or-both": Case("conditions", "joined", {"a": 2, "b": 2, "c": False}),
    "and-or-one": Case("conditions", "joined", {"a": 1, "b": 2, "c": True}),
    "and-or-none": Case("conditions", "joined", {"a": 0, "b": 0, "c": False}),
    "compared-promises-more": Case("conditions", "of_promises", {"n": 0}),
    "compared-promises-equal": Case("conditions", "of_promises", {"n": 1}),
    "compared-promises-less": Case("conditions", "of_promises", {"n": 5}),
    "conditions-of-conditions": Case("conditions", "used", {"n": 7}),
    "conditions-of-conditions-otherwise": Case("conditions", "used", {"n": -2}),
    **{
        f"nested-conditions-{name}": Case("conditions", "nested", {"a": a, "b": b})
        for name, a, b in (("both", 1, 1), ("one", 1, 0), ("two", 2, 0), ("a", 1, -1), ("b", 0, 1), ("neither", 0, 0))
    },
    "else-fail-not-reached": Case("conditions", "refused", {"n": 4}),
    "else-fail": Case("conditions", "refused", {"n": 5}, right=Wrong("UserProvidedError", "n is too large")),
    "nested-else-fail": Case(
        "conditions", "nested_refusal", {"n": 5}, right=Wrong("UserProvidedError", "between 1 and 10", node="n0/0/n0")
    ),
    "nested-else-fail-not-reached": Case("conditions", "nested_refusal", {"n": 11}),
    "is-none": Case("conditions", "of_nothing", {"n": -1}),
    "is-not-none": Case("conditions", "of_nothing", {"n": 1, "m": 3}),
    "an-optional-is-compared": Case("conditions", "of_optional", {"n": 3}),
    "another-optional-is-compared": Case("conditions", "of_optional", {"n": 4}),
    "arms-with-two-outputs": Case("conditions", "pairs", {"n": 4}),
    "other-arms-with-two-outputs": Case("conditions", "pairs", {"n": 3}),
    "sub-workflows-and-plans-as-arms": Case("conditions", "bodies", {"n": 4}),
    "other-sub-workflows-and-plans-as-arms": Case("conditions", "bodies", {"n": 3}),
    "arms-without-outputs": Case("conditions", "without_outputs", {"n": 4}),
    "arms-wait-for-their-own": Case("conditions", "arms_wait", {"n": 4}),
    "node-ids-of-arms-mean-the-outer-ones": Case("conditions", "colliding", {"n": 4}),
    "node-ids-of-the-other-arm": Case("conditions", "colliding", {"n": 0}),
    "conditions-of-fields": _by_hand("of_fields", {"n": 4}, o0="said k"),
    "conditions-of-fields-of-inputs": _by_hand(
        "of_input_fields", {"made": {"n": 3}, "ns": [1, 2, 4]}, o0="said k", o1="said more"
    ),
    "a-condition-of-a-bool": Case("conditions", "flipped"),
    "conditions-of-moments": Case("conditions", "moments", {"year": 2021}),
    "an-int-and-a-float": Case("conditions", "numbers", {"f": 3.5}),
    "the-same-task-in-each-arm": Case("conditions", "same_task_in_each_arm", {"n": 0}),
    "conditions-in-sub-workflows-and-plans": Case("conditions", "inside", {"n": 3}),
    "a-condition-and-a-sub-workflow-with-one": Case("conditions", "collatz", {"n": 5}),
    "conditions-of-keys": _by_hand("of_keys", {"n": 3}, o0="said three"),
    "conditions-of-elements-of-a-map": _by_hand("over_a_map", {"ns": [3, 1, 2]}, o0=3),
    "a-condition-with-an-odd-name": Case("conditions", "an_odd_name", {"n": 1}),
    "an-arm-fails": Case(
        "conditions", "a_failing_arm", {"n": 1}, right=Wrong("USER:RuntimeError", "must not be taken", node="n0/0/n0")
    ),
    "an-arm-that-would-fail": Case("conditions", "a_failing_arm", {"n": 0}),
    "thirty-arms": Case("conditions", "many_arms", {"n": 29}),
    "none-of-thirty-arms": Case("conditions", "many_arms", {"n": 30}),
    "a-dynamic-with-conditions": Case("dynamic_forms", "wf_branches", {"n": 4}),
    "a-dynamic-as-an-arm": Case("dynamic_forms", "wf_in_a_branch", {"n": 3}),
    "a-dynamic-without-nodes-as-an-arm": Case("dynamic_forms", "wf_in_a_branch", {"n": 2}),
    "a-map-over-a-plan-with-conditions": Case(
        "mapped_plans",
        "conditions",
        {"ns": [1, 2]},
        local=False,
        right={"o0": [1, 4]},
        why="local execution can't map a launch plan over a workflow's inputs",
    ),
}
