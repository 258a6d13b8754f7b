"""Services that a machine may lack. A test that needs one says `@pytest.mark.service("name")` and is skipped by name.

`@pytest.mark.service` without a name only says that the test starts real processes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache

from tests.backing.session import KINDS


def _flytekit() -> str:
    return "" if importlib.util.find_spec("flytekit") else "flytekit is not installed"


def _pandas() -> str:
    lacking = [name for name in ("numpy", "pandas", "pyarrow") if not importlib.util.find_spec(name)]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def _kubernetes_client() -> str:
    return "" if importlib.util.find_spec("kubernetes") else "kubernetes, the client for Python, is not installed"


def _fork() -> str:
    return "" if hasattr(os, "fork") and os.path.isdir("/proc/self/fd") else "this system has no fork and /proc"


def _strace() -> str:
    if shutil.which("strace") is None:
        return "there is no strace on PATH"
    tried = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


def _tmpfs() -> str:
    """Whether a small file system can be mounted, in a mount namespace of a child's own."""
    words = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"]
    if shutil.which("unshare") is None:
        return "there is no unshare on PATH"
    tried = subprocess.run(words, capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


SERVICES: dict[str, Callable[[], str]] = {
    "flytekit": _flytekit,
    "fork": _fork,
    "strace": _strace,
    "tmpfs": _tmpfs,
    **{name: kind.absent for name, kind in KINDS.items()},
    "pandas": _pandas,
    "kubernetes-client": _kubernetes_client,
}
"""Name -> why it can't be had here; empty = it can."""


@cache
def missing(name: str) -> str:
    """Why a service can't be had here; empty = it can. Asked once a run. Raises KeyError for an unknown name."""
    return SERVICES[name]()
