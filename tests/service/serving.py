"""`propwash serve` in a process of its own, for tests that talk to it from others."""

from __future__ import annotations

import re
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
            if "until Ctrl-C or SIGTERM" in line:
                break
        else:
            raise AssertionError(f"the service did not start: {seen}")
        yield process


@contextmanager
def listening(propwash: Propwash, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The service, once it is ready, and the URL that it says it answers at."""
    with propwash.started("serve", "--listen", "127.0.0.1:0", *words) as process:
        assert process.stderr is not None
        url, seen = "", []
        for line in process.stderr:
            seen.append(line)
            if found := re.search(r"answers HTTP at (http://\S+)", line):
                url = found[1]
            if "until Ctrl-C or SIGTERM" in line:
                break
        assert url, f"the service did not start: {seen}"
        yield process, url
