"""Services that a machine may lack. A test that needs one says `@pytest.mark.service("name")` and is skipped by name.

`@pytest.mark.service` without a name only says that the test starts real processes.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import cache


def _flytekit() -> str:
    return "" if importlib.util.find_spec("flytekit") else "flytekit is not installed"


def _fork() -> str:
    return "" if hasattr(os, "fork") and os.path.isdir("/proc/self/fd") else "this system has no fork and /proc"


SERVICES: dict[str, Callable[[], str]] = {"flytekit": _flytekit, "fork": _fork}
"""Name -> why it can't be had here; empty = it can."""


@cache
def missing(name: str) -> str:
    """Why a service can't be had here; empty = it can. Asked once a run. Raises KeyError for an unknown name."""
    return SERVICES[name]()
