"""A server as a child process that ends with the process that started it, however that one ends."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

KEPT_LOGS = 10
"""Of each server; the older ones are deleted."""
READY_SECONDS = 60.0
_WATCH = 'cat >/dev/null; kill -9 "$0" 2>/dev/null; rm -rf "$1"'
"""A shell whose stdin is a pipe from us: it reads the pipe's end when we stop the server, or when we are killed."""


class NotStarted(Exception):
    """A server that ended before it was ready, or was not ready in time; names its log."""


class Server:
    """Its data is a temporary folder that goes with it; its log stays in the cache folder."""

    def __init__(self, name: str, data: Path) -> None:
        self.name, self.data = name, data
        self.log = _new_log(name)
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    def start(self, words: Sequence[str], environ: Mapping[str, str], is_ready: Callable[[], bool]) -> None:
        """Raises NotStarted."""
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                words,
                cwd=self.data,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._watch = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, str(self._process.pid), str(self.data)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + READY_SECONDS
        while not is_ready():
            if (code := self._process.poll()) is not None or time.monotonic() > deadline:
                self.stop()
                how = "was not ready in time" if code is None else f"ended with exit code {code}"
                raise NotStarted(f"{self.name} {how}; its log: {self.log}")
            time.sleep(0.05)

    def kill(self) -> None:
        """As if the machine had died; the data stays, for another start."""
        assert self._watch is not None
        assert self._process is not None
        for process in (self._watch, self._process):
            process.kill()
            process.wait()
        assert self._watch.stdin is not None
        self._watch.stdin.close()
        self._watch = None

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """At once: nobody needs its data."""
        if self._watch is not None and self._process is not None:
            assert self._watch.stdin is not None
            self._watch.stdin.close()
            self._watch.wait()
            self._process.wait()
        shutil.rmtree(self.data, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


def cache() -> Path:
    """Outside the checkout, shared by all of them."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "propwash"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def new_data(name: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"propwash-{name}-", dir=os.environ.get("TMPDIR", "/tmp")))


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _new_log(name: str) -> Path:
    folder = cache() / "logs"
    folder.mkdir(exist_ok=True)
    old = sorted(folder.glob(f"{name}-*.log"), key=_written_at, reverse=True)
    for path in old[KEPT_LOGS:]:
        path.unlink(missing_ok=True)
    return folder / f"{name}-{os.getpid()}-{time.time_ns()}.log"


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0  # another process of the tests has tidied up as well
