"""Other ways to write tasks and workflows."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

CASES = {
    "decorated-tasks": Case("odd_forms", "wf_decorated", {"n": 3}),
    "a-task-with-everything": Case(
        "odd_forms",
        "wf_furnished",
        {"n": 3},
        local=False,
        right={"o0": "3 '' d"},
        why="local execution sets no environment",
    ),
    "inputs-named-like-keywords": Case("odd_forms", "wf_keywords", {"type": 1, "inputs": 2}),
    "outputs-with-odd-names": Case("odd_forms", "wf_odd_outputs", {"größe": 4}),
    "a-task-in-a-class": Case(
        "odd_forms",
        "wf_held",
        {"n": 4},
        local=False,
        right=Wrong("USER:RuntimeError", "module 'odd_forms' has no attribute 'held'"),
        why="only a task that runs on its own is looked for by its name",
    ),
    "python-while-it-is-built": Case("odd_forms", "wf_python", {"n": 4}),
    "diamonds": Case("odd_forms", "wf_diamonds", {"n": 1}),
    "unused-results": Case("odd_forms", "wf_unused", {"n": 1}),
    "a-workflow-without-inputs": Case("odd_forms", "wf_without_inputs"),
    "two-hundred-inputs": Case("imperative", "wide", {f"in_{k}": k for k in range(200)}),
    "imperative-with-a-sub-workflow": Case("imperative", "made", {"n": 4}, called="imperative.made by hand ✓"),
    "annotations-as-text": Case("futures", "through", {"n": 4}),
    "annotations-as-text-and-unions": Case("futures", "through", {"n": 4, "either": 3}),
    "annotations-as-text-in-a-dynamic": Case("futures", "dynamically", {"n": 3}),
    "a-workflow-in-an-init": Case("parcel", "whole", {"n": 4}),
    "a-workflow-in-a-package": Case("parcel.inner.deep", "doubled", {"n": 4}),
    "a-map-in-a-package": Case("parcel.inner.deep", "mapped", {"ns": [1, 2]}),
    "a-dynamic-in-a-package": Case("parcel.inner.deep", "dynamically", {"n": 3}),
}
