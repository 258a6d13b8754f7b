"""The servers of one run: started when first needed, or found by an environment variable; stopped at the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from tests.backing import kafka, s3
from tests.backing.kubernetes import cluster


class Running(Protocol):
    def stop(self) -> None: ...


@dataclass(frozen=True)
class Kind:
    variable: str
    """Holds the address of a server that runs already."""
    missing: Callable[[], str]
    start: Callable[[], tuple[Running, str]]

    def absent(self) -> str:
        """Why there is none and none can be started; empty = there is or can."""
        return "" if self.variable in os.environ else self.missing()


KINDS = {
    "kubernetes": Kind("PROPWASH_TEST_KUBERNETES", cluster.missing, cluster.start),
    "kafka": Kind("PROPWASH_TEST_KAFKA", kafka.missing, kafka.start),
    "s3": Kind("PROPWASH_TEST_S3", s3.missing, s3.start),
}


class Servers:
    def __init__(self) -> None:
        self._stack = ExitStack()

    def ensure(self, name: str) -> str:
        """The address of a server, also in its environment variable from now on. Raises NotStarted."""
        kind = KINDS[name]
        if kind.variable not in os.environ:
            running, address = kind.start()
            self._stack.callback(running.stop)
            os.environ[kind.variable] = address
            self._stack.callback(os.environ.pop, kind.variable)
        return os.environ[kind.variable]

    def stop(self) -> None:
        self._stack.close()


def address(name: str) -> str:
    """Of a server that this run has ensured."""
    return os.environ[KINDS[name].variable]
