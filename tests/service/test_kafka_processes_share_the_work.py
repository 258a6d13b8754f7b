"""`propwash serve` on Kafka and S3, by the documented settings: processes share the work, and replace each other."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.service.command import LIMIT_SECONDS, Done
from tests.service.kafka_service import Operator, ends, get, until
from tests.service.test_the_http_api_does_what_commands_do import Caller, one

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]


def submit(call: Caller, name: str, entity: str = "doubled", **inputs: object) -> None:
    status, told = call("POST", "/executions", {"entity": entity, "name": name, "inputs": inputs})
    assert status == 201, told


def test_one_process_does_what_is_asked_over_http(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.register("endings.py")
    with operator.serving("home") as served:
        call = served.call
        submit(call, "first", n=4)
        assert ends(call, "first") == "SUCCEEDED"
        status, document = call("GET", one("first"))
        assert (status, document["phase"], document["outputs"]) == (200, "SUCCEEDED", {"o0": 8})
        submit(call, "first", n=4)
        status, problem = call("POST", "/executions", {"entity": "doubled", "name": "first", "inputs": {"n": 5}})
        assert (status, problem["code"]) == (400, "BadInput")
        assert "execution first exists already" in problem["cause"]

        found = served.metrics()
        assert found["propwash_partitions", ("working",)] == 4
        assert found["propwash_partitions", ("restoring",)] == 0
        assert found["propwash_takeover_seconds_count", ()] == 4
        assert found["propwash_execution_transitions_total", ("SUCCEEDED",)] == 1
        assert found["propwash_ready", ()] == 1
        assert get(f"{served.urls[0]}/healthz") == (200, "ok\n")

        def command(*words: str) -> Done:
            return operator.propwash(*words, "--config", str(operator.config), environ=operator.place.environ)

        assert command("get", "first", "--json").document["outputs"] == document["outputs"]
        assert [line.split()[0] for line in command("list").out.splitlines()] == ["NAME", "first"]
        assert command("logs", "first", "n0").code == 0
        checked = command("check")
        assert (checked.code, "1 executions (0 unfinished)" in checked.out) == (0, True), checked
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(LIMIT_SECONDS) == 0


def test_another_process_takes_its_share_and_gets_the_rest_at_once_when_the_first_one_stops(tmp_path: Path) -> None:
    operator = Operator(tmp_path, session_seconds=60.0)
    operator.register("endings.py")
    with operator.serving("one") as first, operator.serving("two") as second:
        until(lambda: (first.owns(), second.owns()) == (2, 2))
        names = [f"e{number}" for number in range(12)]
        for name in names:
            submit(first.call, name, n=1)
        assert [ends(second.call, name) for name in names] == ["SUCCEEDED"] * 12
        assert first.succeeded() + second.succeeded() == 12
        assert min(first.succeeded(), second.succeeded()) > 0
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(LIMIT_SECONDS) == 0
        until(lambda: second.owns() == 4)  # much sooner than the session of the other ends
        submit(second.call, "last", n=2)
        assert ends(second.call, "last") == "SUCCEEDED"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_process_was_doing_when_it_ended_is_done_by_the_other(tmp_path: Path, how: signal.Signals) -> None:
    """At once where it was told to stop: its session is longer than a test may take."""
    operator = Operator(tmp_path, session_seconds=2.0 if how is signal.SIGKILL else 120.0)
    operator.register("endings.py")
    flag = tmp_path / "go"
    os.mkfifo(tmp_path / "go.life")
    life = os.open(tmp_path / "go.life", os.O_RDONLY | os.O_NONBLOCK)
    with ExitStack() as stack:
        stack.callback(os.close, life)
        both = [stack.enter_context(operator.serving(home)) for home in ("one", "two")]
        until(lambda: [each.owns() for each in both] == [2, 2])
        submit(both[0].call, "w", "waits", path=str(flag))
        until(lambda: any(each.metrics()["propwash_tasks", ("running",)] for each in both))
        both.sort(key=lambda each: each.metrics()["propwash_tasks", ("running",)])
        other, worker = both
        worker.process.send_signal(how)
        assert worker.process.wait(LIMIT_SECONDS) == (0 if how is signal.SIGTERM else -signal.SIGKILL)
        until(lambda: other.metrics()["propwash_tasks", ("running",)] == 1)
        flag.touch()
        assert ends(other.call, "w") == "SUCCEEDED"
        nodes = other.call("GET", one("w"))[1]["nodes"]
        assert [node["attempts"] for node in nodes if node["path"] == "n0"] == [1], "the same attempt, again"
        assert os.read(life, 1) == b"", "no process holds the pipe any more"
