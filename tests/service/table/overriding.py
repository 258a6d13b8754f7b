"""with_overrides and create_node."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

NO_RETRIES = "local execution ignores retries"
CASES = {
    "more-retries": Case(
        "overriding", "more_retries", {"path": "{here}/x", "times": 4}, local=False, right={"o0": 5}, why=NO_RETRIES
    ),
    "more-retries-are-not-enough": Case(
        "overriding",
        "more_retries",
        {"path": "{here}/x", "times": 5},
        local=False,
        right=Wrong("RetriesExhausted|USER:Recoverable", "try 5"),
        why=NO_RETRIES,
    ),
    "retries-of-elements": Case(
        "overriding",
        "retries_of_elements",
        {"folder": "{here}", "times": 3},
        local=False,
        right={"o0": [4, 4]},
        why=NO_RETRIES,
    ),
    "every-override": Case("overriding", "everything", {"n": 3}),
    "overrides-of-a-task-with-two-outputs": Case("overriding", "of_several_outputs", {"n": 3}),
    "overrides-of-sub-workflows-and-plans": Case("overriding", "of_composites", {"n": 3}),
    "overrides-in-a-dynamic": Case("overriding", "wf_in_a_dynamic", {"n": 3}),
    "created-nodes": Case("overriding", "created", {"n": 3, "path": "{here}/x"}),
}
