"""The environment of an attempt, and whether its command can be a fork of the warm zygote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.adapters.processes.place import Place
from engine.ports.taskrunner import TaskRequest

FLYTEKIT_COMMANDS = ("pyflyte-execute", "pyflyte-map-execute")

_READ_AT_START = frozenset(
    {
        "LANG",
        "FLYTE_PYTHON_PACKAGE_ROOT",
        "FLYTE_SDK_RICH_TRACEBACKS",
        "_F_P_WRITE_CHUNK_SIZE",
        "_F_TE_MAX_COROS",
    }
)
"""Variables that Python, or flytekit when it is imported, reads once."""
_READ_AT_START_PREFIXES = ("PYTHON", "LC_", "LD_", "MALLOC_")
_READ_LATER = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED"})
"""The zygote's forks honour these."""


SECRETS = frozenset({"PROPWASH_KAFKA_PASSWORD"})
"""Variables of the engine's own, which are no task's business."""


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in SECRETS}


def environment(base: Mapping[str, str], request: TaskRequest, bin_folder: str, place: Place) -> dict[str, str]:
    """The author's own environment, the container's over it, and what makes the attempt's place its own.

    Modules are found in the code root before the author's PYTHONPATH, programs in the interpreter's folder before PATH.
    """
    env = {**base, **request.env}
    env["PYTHONPATH"] = _joined(request.code_root, env.get("PYTHONPATH", ""))
    env["PATH"] = _joined(bin_folder, env.get("PATH", os.defpath))
    env["TMPDIR"] = str(place.tmp)
    env["PWD"] = str(place.cwd)
    if not env["PYTHONPATH"]:
        del env["PYTHONPATH"]
    return env


def zygote_environment(base: Mapping[str, str], mark: tuple[str, str], tmp: Path) -> dict[str, str]:
    """No PYTHONPATH: the zygote must never import a user's module. An execution, so that flytekit logs as in a task."""
    env = {"FLYTE_INTERNAL_EXECUTION_ID": "zygote", **base, mark[0]: mark[1], "TMPDIR": str(tmp)}
    env.pop("PYTHONPATH", None)
    return env


def runs_flytekit(argv: Sequence[str], bin_folder: str) -> bool:
    """The command is flytekit's own, of the environment that the zygote runs on."""
    folder, name = os.path.split(argv[0])
    return name in FLYTEKIT_COMMANDS and folder in ("", bin_folder)


def frozen(env: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that a running Python with flytekit imported can't change any more."""
    return {
        name: value
        for name, value in env.items()
        if (name in _READ_AT_START or name.startswith(_READ_AT_START_PREFIXES)) and name not in _READ_LATER
    }


def shadowed(env: Mapping[str, str], imported: frozenset[str]) -> str:
    """A module of the author's that a plain start would import instead of one the zygote has already; else "".

    Reads the folders of PYTHONPATH (blocking).
    """
    for folder in env.get("PYTHONPATH", "").split(os.pathsep):
        for name in imported & _names(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py")):
                return path
    return ""


def _names(folder: str) -> set[str]:
    try:
        return {name.partition(".")[0] for name in os.listdir(folder or ".")}
    except OSError:
        return set()


def _joined(*parts: str) -> str:
    return os.pathsep.join(part for part in parts if part)
