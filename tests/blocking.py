"""Finds calls in the event loop that may wait for a disk, a lock or a peer: the loop then serves nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from blockbuster import blockbuster_ctx

SCANNED = ["engine", "handlers", "config"]

ALLOWED: list[tuple[list[str], str, set[str], str]] = [
    (
        ["os.stat", "os.listdir", "os.scandir", "os.access", "io.BufferedReader.read", "io.TextIOWrapper.read"],
        "engine/adapters/s3/client.py",
        {"connect"},
        "a client is made once, before the engine runs; botocore reads its models and the shared files then",
    ),
    (
        ["os.stat", "os.path.abspath", "io.BufferedReader.read", "io.TextIOWrapper.read"],
        "engine/adapters/kubernetes/access.py",
        {"_log_in", "_authorization"},
        "they run in a thread, on a loop that nobody else uses",
    ),
]
"""(blocking functions, end of the file's path, functions in it, why it is right there)."""


@contextmanager
def blocking_calls_refused() -> Iterator[None]:
    """A blocking call that our code makes while a loop runs raises BlockingError."""
    with blockbuster_ctx(SCANNED) as detector:
        for blocking, file, functions, _reason in ALLOWED:
            for name in blocking:
                detector.functions[name].can_block_in(file, functions)
        yield
