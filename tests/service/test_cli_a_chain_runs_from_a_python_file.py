"""The happy path: a Python file, typed values, plain lines, outputs; `list` and `get` show the same afterwards."""

from __future__ import annotations

import re

import pytest

from tests.service.command import WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


def test_a_chain_runs_and_can_be_looked_at(propwash: Propwash) -> None:
    file = str(WORKFLOWS / "chain.py")
    done = propwash("run", "--name", "first", file, "chain", "--n", "3", "--steps=two")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "execution first RUNNING launch plan chain.chain"
    assert "second-step QUEUED task chain.add" in lines
    assert sum(line.startswith("n2 SUCCEEDED after ") for line in lines) == 1
    assert done.out.endswith('{\n  "text": "n=17",\n  "total": 17\n}\n')

    again = propwash("run", file, "chain.chain", "--n=3", "--steps", "two", "--name", "first", "--json")
    assert again.code == 0, "the same submission again is the same execution"
    assert again.err == "execution first has SUCCEEDED already: this is its result, nothing ran\n"
    document = again.document
    assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"text": "n=17", "total": 17})
    assert [node["path"] for node in document["nodes"]] == ["n0", "n3", "second-step", "n2", "n4"]
    assert {node["task"] for node in document["nodes"]} == {"chain.add", "chain.note", "chain.describe"}
    assert document["home"] == str(propwash.home)

    other = propwash("run", file, "chain", "--n", "4", "--name", "first", "--json")
    assert (other.code, other.out) == (2, "")
    assert other.err.startswith("Error: execution first exists already (SUCCEEDED)")

    assert propwash("get", "first", "--json").document == document
    assert propwash("list", "--json").document == [document]
    assert re.search(r"^first +SUCCEEDED +chain\.chain ", propwash("list").out, re.MULTILINE)
    shown = propwash("get", "first").out
    assert re.search(r"^second-step +task +SUCCEEDED +[\d.]+ m?s +add$", shown, re.MULTILINE)
    assert '"total": 17' in shown
