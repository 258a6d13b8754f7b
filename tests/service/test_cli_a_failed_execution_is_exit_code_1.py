"""A failed execution: exit code 1, the error in the document and on stderr, and where the task's stderr lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def test_the_document_of_a_failed_task(propwash: Propwash, endings: str) -> None:
    done = propwash("run", "--json", "--code-root", endings, endings, "even", "--n", "3")
    assert done.code == 1
    document = done.document
    assert (document["phase"], document["outputs"]) == ("FAILED", None)
    error = document["error"]
    assert (error["code"], error["kind"], error["node"]) == ("USER:RuntimeError", "USER", "n0")
    assert "ValueError: 3 is odd" in error["message"]
    assert [(node["path"], node["phase"], node["attempts"]) for node in document["nodes"]] == [("n0", "FAILED", 1)]
    assert document["nodes"][0]["error"] == error


def test_people_are_told_code_kind_node_message_and_where_stderr_lies(propwash: Propwash, endings: str) -> None:
    done = propwash("run", "--name", "odd", "--code-root", endings, endings, "all_even", "--ns", "[2, 5, 4]")
    assert done.code == 1
    assert "execution odd FAILED after" in done.err
    assert "USER:RuntimeError (USER) at node n0:" in done.err
    assert "1 element of 3 failed: [1]; 3 must succeed." in done.err
    stderr = Path(done.err.rpartition("stderr of the task: ")[2].strip())
    assert stderr.parent.name == "0"
    assert "5 is odd" in stderr.read_text()
    assert done.out.splitlines()[-1].startswith("execution odd FAILED after ")

    shown = propwash("get", "odd")
    assert shown.code == 0
    assert "1 element of 3 failed" in shown.out
