"""Tasks that are no Python functions of the author."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

CASES = {
    "a-shell-with-outputs": Case("engine_tasks", "shells", {"text": "four", "n": 2}),
    "a-shell-with-a-folder": Case("engine_tasks", "folders_of_shells", {"text": "four"}),
    "a-shell-that-fails": Case(
        "engine_tasks",
        "failing_shell",
        {"code": 3},
        right=Wrong("RetriesExhausted|USER:Recoverable", "oh no"),
    ),
    "a-silent-shell": Case("engine_tasks", "a_silent_shell", {"n": 3}),
    "a-task-with-a-subprocess": Case("engine_tasks", "subprocesses", {"n": 3}),
    "an-echo-between-tasks": Case("engine_tasks", "echoes", {"n": 1}),
    "an-echo-of-many": Case("engine_tasks", "echoes_of_many", {"a": 3, "b": "é"}),
    "an-echo-of-none": Case("engine_tasks", "echoes_of_many", {"a": 3}),
}
