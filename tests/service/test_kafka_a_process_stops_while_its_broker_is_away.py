"""SIGTERM while no broker answers: the process ends within its deadline, with exit code 0, and says nothing odd."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.backing import kafka
from tests.service.command import LIMIT_SECONDS
from tests.service.kafka_service import Operator

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]
DEADLINE_SECONDS = 10.0
"""shutdown.deadline_seconds, unless something else is said."""


@pytest.mark.parametrize("dies", [True, False], ids=["dead", "silent"])
def test_it_does_not_wait_for_the_broker(dies: bool, tmp_path: Path) -> None:
    broker, address = kafka.start()
    try:
        operator = Operator(tmp_path, bootstrap=address)
        operator.register("endings.py")
        with operator.serving("home", "--set", "http.patience_seconds=2") as served:
            (broker.kill if dies else broker.pause)()
            # An append that nobody answers is under way when the stop comes.
            status, problem = served.call(
                "POST", "/executions", {"entity": "doubled", "name": "late", "inputs": {"n": 4}}
            )
            assert (status, problem["code"], problem["kind"]) == (503, "LogUnavailable", "SYSTEM")
            assert "late" in problem["cause"]
            assert "asking again under the same name is harmless" in problem["cause"]
            began = time.monotonic()
            served.process.send_signal(signal.SIGTERM)
            _, err = served.process.communicate(timeout=LIMIT_SECONDS)
            seconds = time.monotonic() - began
    finally:
        if not dies:
            broker.go_on()
        broker.stop()
    assert served.process.returncode == 0, err
    assert seconds < DEADLINE_SECONDS
    assert "stopping took longer" not in err
    assert "Traceback" not in err
    assert "never retrieved" not in err
    assert err.count("Kafka is in trouble") <= 1
