"""Reads an author's workflows: a Python file by way of flytekit, in a child process of the author's interpreter.

The child is `packager.py`: this process never imports an author's module.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import Process
from msgspec import Struct, structs

from engine.model.errors import BadInput
from engine.wire.archive import read_package
from engine.wire.code_archive import unpack_code
from engine.wire.package import PackageFiles

TIMEOUT_SECONDS = 300.0
"""The most that importing and packaging one file may take."""
_SCRIPT = Path(__file__).with_name("packager.py")
_REAP_SECONDS = 5.0
_MODULES = 3
"""Python files that a message names."""
_LOG = "output.log"
_LOG_TAIL = 2000
"""Characters of what the file printed that an error shows."""


class _Report(Struct, frozen=True):
    """package.json of the script."""

    code_root: str
    module: str
    activate: tuple[str, ...] = ()


class _Error(Struct, frozen=True):
    """error.json of the script."""

    message: str
    traceback: str


def ensure_there(file: str) -> None:
    """Blocking. Raises BadInput where there is no such file or folder; a module's name may have been meant as one."""
    if os.path.exists(file):
        return
    module = f"{file.replace('.', os.sep)}.py"
    meant = f"; did you mean {module}?" if os.path.exists(module) else ""
    raise BadInput(f"there is no file or folder {file}; nothing was started{meant}")


async def read_workflows(
    path: Path,
    *,
    python: str = sys.executable,
    constants: Path | None = None,
    sources: Path | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> PackageFiles:
    """Whatever an author can give: a `.py` file, or what `pyflyte package` wrote. Raises BadInput."""
    if path.suffix == ".py":
        return await package_file(
            path, python=python, constants=constants, sources=sources, timeout_seconds=timeout_seconds
        )
    return await to_thread.run_sync(_read_package, path)


def _read_package(path: Path) -> PackageFiles:
    """Blocking."""
    found = read_package(path)
    if not found.files and path.is_dir() and (modules := sorted(path.rglob("*.py"))):
        listed = ", ".join(map(str, modules[:_MODULES])) + (", ..." if len(modules) > _MODULES else "")
        raise BadInput(f"{path} is a folder of Python files: name one of them ({listed}); nothing was started")
    return found


async def package_file(
    path: Path,
    *,
    python: str = sys.executable,
    constants: Path | None = None,
    sources: Path | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> PackageFiles:
    """The packaged workflows of one Python file. Raises BadInput, with the author's own error if it has one.

    `constants` is the folder for default values that no message can hold (files, pickles). It must last as long as
    what is run from the package; without one they go to the system's folder for temporary files. `sources`: a folder
    for a copy of the modules that importing the file has loaded, which its tasks then run from; without one they run
    from where the file is.
    """
    if not await anyio.Path(path).is_file():
        raise BadInput(f"there is no file {path}")
    folder = Path(await to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="propwash-package-")))
    constants = constants or Path(tempfile.gettempdir(), f"propwash-constants-{uuid.uuid4().hex}")
    try:
        command = [python, str(_SCRIPT), str(path), str(folder), str(constants)]
        ending = await _run(command if sources is None else [*command, "register"], folder, timeout_seconds)
        return await to_thread.run_sync(_collect, path, folder, ending, sources)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


async def _run(command: list[str], folder: Path, timeout_seconds: float) -> str:
    """Run the script to its end, and say how it ended. Nothing of it runs at the return."""
    process = await _start(command, folder)
    try:
        with anyio.fail_after(timeout_seconds):
            status = await process.wait()
    except TimeoutError:
        raise BadInput(
            f"{command[2]} was still being imported after {timeout_seconds:g} seconds; it was stopped"
        ) from None
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return f"by signal {-status}" if status < 0 else f"with exit status {status}"


async def _start(command: list[str], folder: Path) -> Process:
    # A file, not a pipe: a process that the author's module leaves behind would hold a pipe open.
    async with await anyio.open_file(folder / _LOG, "wb") as log:
        try:
            return await anyio.open_process(
                command,
                stdin=subprocess.PIPE,  # closed when this process is gone, however it ends: the script ends then
                stdout=log.wrapped,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": str(folder)},  # flytekit leaves folders behind there
                start_new_session=True,
            )
        except OSError as error:
            raise BadInput(f"{command[0]} can't be started as a Python interpreter: {error}") from error


async def _end(process: Process) -> None:
    """Kill the script and whatever its modules started, and take the script's status."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(_REAP_SECONDS):
        await process.aclose()


def _collect(path: Path, folder: Path, ending: str, sources: Path | None) -> PackageFiles:
    """What the script wrote, as a package or as the error it stands for."""
    if (folder / "error.json").exists():
        error = msgspec.json.decode((folder / "error.json").read_bytes(), type=_Error)
        raise BadInput("\n".join(filter(None, [f"{path} can't be packaged: {error.message}", error.traceback])))
    if not (folder / "package.json").exists():
        log = (folder / _LOG).read_text(errors="replace")[-_LOG_TAIL:]
        raise BadInput(f"{path} can't be packaged: Python ended {ending} while importing it. It printed:\n{log}")
    report = msgspec.json.decode((folder / "package.json").read_bytes(), type=_Report)
    found = read_package(folder)
    code_root = report.code_root if sources is None else str(unpack_code(folder, found.code_archive, sources))
    return structs.replace(found, where=str(path), code_root=code_root, module=report.module, activate=report.activate)
