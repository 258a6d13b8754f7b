"""`propwash serve --workers N`: one process keeps the others at work, and ends with them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash
from tests.service.kafka_service import Operator, get, until

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]


def children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_worker_that_dies_is_started_again_and_all_stop_with_their_keeper(tmp_path: Path) -> None:
    operator = Operator(tmp_path, session_seconds=2.0)
    with operator.serving("home", "--workers", "2", count=2) as served:
        until(lambda: [served.metrics(which)["propwash_partitions", ("working",)] for which in (0, 1)] == [2, 2])
        before = children(served.process.pid)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        until(lambda: len(children(served.process.pid)) == 2 and before[0] not in children(served.process.pid))
        now = children(served.process.pid)
        served.process.send_signal(signal.SIGTERM)
        _, err = served.process.communicate(timeout=LIMIT_SECONDS)
    assert served.process.returncode == 0
    assert "worker 1 has ended with signal 9; it is started again in 0.5 s" in err or "worker 2 has ended with" in err
    assert not any(os.path.exists(f"/proc/{pid}") for pid in now)


def test_workers_end_when_their_keeper_is_killed(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    with operator.serving("home", "--workers", "2", count=2) as served:
        workers = children(served.process.pid)
        served.process.kill()
        until(lambda: [get(f"{url}/healthz")[0] for url in served.urls] == [0, 0])
        until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))


def test_what_can_not_work_is_told_before_anything_starts(tmp_path: Path) -> None:
    propwash = Propwash(tmp_path)
    done = propwash("serve", "--workers", "2")
    assert (done.code, done.out) == (2, "")
    assert "--workers 2: one engine at a time works on the log of a home; several need kafka.bootstrap" in done.err
    for words in ((), ("--workers", "2")):
        done = propwash("serve", "--set", "kafka.bootstrap=127.0.0.1:1", *words)
        assert done.code == 2
        assert "store.uri: engines on Kafka share their values" in done.err
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "log.db").touch()
    done = propwash("serve", "--set", "kafka.bootstrap=127.0.0.1:1", "--store", f"file://{tmp_path}/store")
    assert done.code == 2
    assert "it holds a log of its own (log.db)" in done.err
