"""Gates by the real command: what is asked is told, answers are checked by type, and reach whoever holds the home."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import datetime
from typing import Any

import pytest

from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

GATES = str(WORKFLOWS / "gates.py")
_MOMENTS = ("started_at", "ended_at")


def _line(process: subprocess.Popen[str], begin: str) -> str:
    """The next line that begins so."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith(begin):
            return line.rstrip()
    raise AssertionError(f"no line {begin!r}: {seen}; {process.stderr.read() if process.stderr else ''}")


def _waiting(propwash: Propwash, name: str) -> dict[str, Any]:
    return {wait["node"]: wait for wait in propwash("get", name, "--json").document["waiting"]}


def test_a_run_asks_and_other_commands_answer(propwash: Propwash) -> None:
    with propwash.started("run", GATES, "asks", "--n", "1", "--name", "g1") as process:
        command = f"propwash signal g1 how-many VALUE --home {propwash.home}"
        assert _line(process, "n0 RUNNING") == f"n0 RUNNING waits for the signal 'how-many' (int): {command}"

        shown = propwash("get", "g1").out
        assert re.search(rf"n0 +the signal 'how-many' \(int\), for .* at most: {re.escape(command)}\n", shown)
        waiting = _waiting(propwash, "g1")
        assert (waiting["n0"]["for"], waiting["n0"]["signal"]) == ("the signal 'how-many' (int)", "how-many")
        assert waiting["n3"]["for"] == "n2 (NOT_YET_STARTED)"

        wrong = propwash("signal", "g1", "how-many", "seven")
        assert wrong.code == 2
        assert wrong.err == "Error: signal 'how-many': expected int, got \"seven\"\n"
        unknown = propwash("signal", "g1", "how-mny", "7")
        assert unknown.code == 2
        assert "no gate of the id 'how-mny'" in unknown.err
        assert "the signal 'how-many' (int), the approval 'sure'" in unknown.err
        assert propwash("signal", "g1", "how-many", "--approve").code == 2
        assert propwash("signal", "g1", "how-many").code == 2

        answered = propwash("signal", "g1", "how-many", "-7")
        assert (answered.code, answered.err) == (0, "")
        assert answered.out == "signal 'how-many' of execution g1 is set\n"
        assert "waits for the approval 'sure'" in _line(process, "n3 RUNNING")
        again = propwash("signal", "g1", "how-many", "8")
        assert again.code == 2
        assert "is set already" in again.err
        assert propwash("signal", "g1", "sure", "yes").code == 2
        assert propwash("signal", "g1", "sure", "--approve").code == 0
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    assert json.loads(out[out.index("{") :]) == {"o0": -28}
    late = propwash("signal", "g1", "sure", "--approve")
    assert (late.code, "has SUCCEEDED already" in late.err) == (2, True)


def test_answers_without_an_engine_are_kept_for_the_next_one(propwash: Propwash) -> None:
    with propwash.started("run", GATES, "takes_lists", "--name", "g2") as process:
        _line(process, "n1 RUNNING")
        process.kill()
    assert propwash("signal", "g2", "numbers", "[1, 2, 3]").code == 0
    assert propwash("signal", "g2", "label", "sum").code == 0
    (document,) = propwash("resume", "--json").document
    assert document["outputs"] == {"o0": "sum: 6"}


def test_a_rejection_and_a_timeout_fail(propwash: Propwash) -> None:
    with propwash.started("run", GATES, "asks", "--n", "1", "--name", "g3") as process:
        _line(process, "n0 RUNNING")
        assert propwash("signal", "g3", "sure", "--reject").code == 0
        assert propwash("signal", "g3", "how-many", "1").code == 0
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 1
    assert "ReceivedRejectSignal (USER) at node n3" in err

    impatient = propwash("run", GATES, "impatient", "--json")
    assert impatient.code == 1
    assert impatient.document["error"]["code"] == "RetriesExhausted|TimeoutExpired"


def test_a_real_sleep_ends_within_50_ms_of_its_time(propwash: Propwash) -> None:
    """The best of five: the others may have met a busy machine."""
    document = propwash("run", GATES, "sleeps", "--json").document
    assert document["phase"] == "SUCCEEDED"
    begun, ended = ([datetime.fromisoformat(node[key]) for node in document["nodes"]] for key in _MOMENTS)
    slept = [(end - begin).total_seconds() for begin, end in zip(begun, ended, strict=True)]
    assert len(slept) == 5
    assert min(slept) >= 0.2
    assert min(slept) <= 0.25


@pytest.mark.parametrize(
    ("workflow", "gate", "signal"),
    [("asks_in_a_plan", "n0/0/dn1", "planned"), ("asks_in_an_arm", "n0/0/n0/0/n1", "inner")],
)
def test_gates_inside_plans_and_arms(propwash: Propwash, workflow: str, gate: str, signal: str) -> None:
    with propwash.started("run", GATES, workflow, "--n", "5", "--name", "g") as process:
        asked = _line(process, f"{gate} RUNNING")
        assert f"propwash signal g {signal} --approve|--reject" in asked
        assert _waiting(propwash, "g")[gate]["signal"] == signal
        assert propwash("signal", "g", signal, "--approve").code == 0
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    assert json.loads(out[out.index("{") :]) == {"o0": 20 if signal == "planned" else 10}


def test_a_gate_of_a_child_execution_is_answered_by_the_childs_name(propwash: Propwash) -> None:
    with propwash.started("run", GATES, "asks_by_a_child", "--n", "5", "--name", "g") as process:
        asked = _line(process, "n0 > n1 RUNNING")
        child = asked.split("propwash signal ")[1].split(" ")[0]
        text = propwash("get", "g").out
        assert re.search(rf"n0 > n1 +the approval 'inner', for .* at most: propwash signal {child} inner", text)
        assert propwash("signal", child, "inner", "--approve").code == 0
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    assert json.loads(out[out.index("{") :]) == {"o0": 10}
