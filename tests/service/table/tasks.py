"""What flytekit offers beside plain tasks: environments, contexts, checkpoints, shells, imperative workflows."""

from __future__ import annotations

from tests.service.cases import Case

CASES = {
    "environment-and-resources": Case(
        "features",
        "wf_furnished",
        {"n": 1},
        local=False,
        right={"o0": "mine 1"},
        why="local execution sets no environment",
    ),
    "the-context-of-a-task": Case(
        "features",
        "wf_context",
        local=False,
        right={"o0": "p d the-context-of-a-task features.context"},
        why="local executions have no name of their own",
    ),
    "checkpoints": Case("features", "wf_resumes", local=False, right={"o0": 2}, why="local execution ignores retries"),
    "an-echo": Case("features", "wf_echo", {"a": 3, "b": "x"}),
    "a-shell-task": Case("features", "wf_shell", {"text": "hé", "path": "{here}/said"}),
    "an-imperative-workflow": Case("features", "imperative", {"n": 3}, called="my.imperative"),
}
