"""`make services` and the test session: what they started is gone when they are, killed or not."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.service.command import LIMIT_SECONDS

pytestmark = pytest.mark.service("s3")
STARTER = """
import sys, time
from tests.backing import s3
running, address = s3.start()
print(running._process.pid, running.data, running.log, flush=True)
sys.stdin.read()
running.stop()
"""


@contextmanager
def starter() -> Iterator[tuple[subprocess.Popen[str], int, Path, Path]]:
    """A process that has started a server; the server's process, its data and its log."""
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        assert process.stdout is not None
        pid, data, log = process.stdout.readline().split()
        try:
            yield process, int(pid), Path(data), Path(log)
        finally:
            process.kill()


def wait_for_end(descriptor: int) -> None:
    assert select.select([descriptor], [], [], LIMIT_SECONDS)[0], "the server still runs"
    os.close(descriptor)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_starter_takes_its_server_with_it(number: signal.Signals) -> None:
    with starter() as (process, pid, data, log):
        server = os.pidfd_open(pid)
        assert data.exists()
        process.send_signal(number)
        wait_for_end(server)
        assert "Starting s3 server" in log.read_text()


def test_an_orderly_end_leaves_the_log_only() -> None:
    with starter() as (process, pid, data, log):
        server = os.pidfd_open(pid)
        process.communicate("", timeout=LIMIT_SECONDS)
        wait_for_end(server)
        assert not data.exists()
        assert re.search("Starting s3 server", log.read_text())
