"""The package `propwash`: where the command begins, under a name that no author's module has (docs/decisions/0001).

In: argv. Out: an exit code. Never here: anything but keeping the author's modules out of the engine's own imports.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line with the engine's own modules, whatever lies in the working folder or on PYTHONPATH."""
    sys.path[:] = [entry for entry in sys.path if not _authors(entry)]
    try:
        from engine.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return 130  # Ctrl-C while the modules were being imported


def _authors(entry: str) -> bool:
    """Whether an entry of sys.path is there for the author's code. os.environ stays as it is: the tasks need it."""
    if _real(entry) == _real(os.path.join(os.path.dirname(__file__), os.pardir)):
        return False  # this package was installed into a folder of PYTHONPATH
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep) if "PYTHONPATH" in os.environ else []
    return _real(entry) in {_real(path) for path in ["", *given]}


def _real(path: str) -> str:
    return os.path.realpath(path or os.getcwd())
