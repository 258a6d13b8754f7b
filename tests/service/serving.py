"""`propwash serve` in a process of its own, for tests that talk to it from others."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.service.command import Propwash


@contextmanager
def serving(propwash: Propwash, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The service, once it takes commands; it is killed at the end of the block if it still runs."""
    with propwash.started("serve", *words) as process:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if "it takes commands until" in line:
                break
        else:
            raise AssertionError(f"the service did not start: {seen}")
        yield process
