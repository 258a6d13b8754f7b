"""Raw containers through podman or docker: the command line, what it may find where, and nothing left behind."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, ExitReason, Mount, TaskRequest

log = logging.getLogger(__name__)
ENGINES = ("podman", "docker")
LABEL = "dev.propwash.runner"
ANSWER_SECONDS = 10.0
"""For a question to the container engine, whose daemon may hang."""
REMOVE_SECONDS = 30.0
_ENGINE_FAILED = 125
"""Exit status of `run` where the container could not be started: no such image, no daemon, a bad option."""
_KILLED = {137: 9, 143: 15}
"""Exit status of `run` -> the signal that ended the container."""


class Refused(Exception):
    """The container can't be run as it is asked for."""


class Containers:
    def __init__(self, wanted: str | None, folder: Path, environ: Mapping[str, str]) -> None:
        """`wanted`: name or path of the engine; None = podman, else docker, whichever answers first."""
        self._names = (wanted,) if wanted else ENGINES
        self._environ = environ
        self._engine = ""
        self._label = f"{LABEL}={hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
        self._used = folder.parent / "containers-used"
        """Names the engine that may still have containers of ours, should we be killed."""

    async def problem(self) -> str:
        """Why there is no container engine; "" = there is one."""
        if not self._engine:
            try:
                self._engine = await to_thread.run_sync(self._find)
            except Refused as problem:
                return str(problem)
        return ""

    async def command(self, request: TaskRequest) -> tuple[str, ...]:
        """The command that runs the container in the foreground. Raises Refused, OSError."""
        if problem := await self.problem():
            raise Refused(problem)
        return await to_thread.run_sync(self._command, request)

    async def remove(self, key: AttemptKey) -> None:
        """End a container that may still run although its command has ended. Bounded in time, and not cancelled."""
        with anyio.CancelScope(shield=True):
            answer = await to_thread.run_sync(self._ask, self._engine, ("rm", "--force", _name(key)), REMOVE_SECONDS)
        if answer.returncode:
            log.info("a container was not removed", extra={"key": str(key), "cause": answer.stderr.strip()})

    async def take_over(self) -> None:
        """End what an engine that was killed has left running."""
        await to_thread.run_sync(self._take_over)

    async def leave(self) -> None:
        """Nothing of ours runs any more."""
        await to_thread.run_sync(lambda: self._used.unlink(missing_ok=True))

    def _take_over(self) -> None:
        if not self._used.exists():
            return
        engine = self._used.read_text()
        found = self._ask(engine, ("ps", "--all", "--quiet", "--filter", f"label={self._label}"), ANSWER_SECONDS)
        left = found.stdout.split()
        if left:
            log.warning("containers of an earlier engine are ended", extra={"count": len(left)})
            self._ask(engine, ("rm", "--force", *left), REMOVE_SECONDS)
        self._used.unlink()

    def _find(self) -> str:
        """The first engine that answers: a client without its daemon does not."""
        said = []
        for name in self._names:
            path = shutil.which(name, path=self._environ.get("PATH"))
            if path is None:
                said.append(f"there is no {name}")
                continue
            answer = self._ask(path, ("version",), ANSWER_SECONDS)
            if not answer.returncode:
                return path
            said.append(f"{path} does not work: {_last_line(answer.stderr)}")
        raise Refused(f"it runs in a container of its own, which needs podman or docker: {', '.join(said)}")

    def _ask(self, engine: str, words: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [engine, *words],
                env=dict(self._environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return subprocess.CompletedProcess([engine, *words], _ENGINE_FAILED, "", str(problem))

    def _command(self, request: TaskRequest) -> tuple[str, ...]:
        run = request.container
        assert run is not None
        self._used.write_text(self._engine)
        words = [self._engine, "run", "--rm", "--name", _name(request.key), "--label", self._label]
        # Where SELinux labels files, a container could not read what is mounted; elsewhere this says nothing.
        words += ["--security-opt", "label=disable"]
        for option in _mounts(run.mounts):
            words += ["--mount", option]
        for name, value in sorted(request.env.items()):
            words += ["--env", f"{name}={value}"]
        argv = request.argv
        if run.replaces_entrypoint:
            words += ["--entrypoint", argv[0]]
            argv = argv[1:]
        return (*words, run.image, *argv)


def ended(told: Exit) -> Exit:
    """How the container ended, from how its command did."""
    if told.reason is not ExitReason.EXITED:
        return told
    if told.code == _ENGINE_FAILED:
        return Exit(ExitReason.NOT_STARTED, told.code, told.message, told.started_at, told.ended_at)
    if told.code in _KILLED:
        return Exit(ExitReason.SIGNALLED, _KILLED[told.code], told.message, told.started_at, told.ended_at)
    return told


def _name(key: AttemptKey) -> str:
    return f"propwash-{key.digest()}"


def _mounts(mounts: Sequence[Mount]) -> list[str]:
    """The options, with what they speak of made ready (blocking). Raises Refused, OSError."""
    options = []
    placed: list[tuple[str, str]] = []
    for mount in mounts:
        source = _local(mount.uri)
        if mount.writable:
            os.makedirs(source, exist_ok=True)
        elif not os.path.exists(source):
            raise Refused(f"{mount.uri}, which its container is to find at {mount.path}, is not there")
        _make_place(source, mount.path, placed)
        placed.append((source, mount.path))
        options.append(f"type=bind,source={source},target={mount.path}" + ("" if mount.writable else ",readonly"))
    return options


def _local(uri: str) -> str:
    path = uri.removeprefix("file://")
    if not path.startswith("/"):
        raise Refused(f"{uri} can't be put into a container of this machine: it is no local file or folder")
    if "," in path:
        raise Refused(f"{uri} can't be put into a container: podman and docker read the comma as the end of the path")
    return path


def _make_place(source: str, path: str, placed: Sequence[tuple[str, str]]) -> None:
    """What lies inside another mount needs something to be mounted on, which is made there."""
    for outer, at in reversed(placed):
        inside = os.path.relpath(path, at)
        if not inside.startswith(".."):
            place = os.path.join(outer, inside)
            if os.path.isdir(source):
                os.makedirs(place, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                Path(place).touch()
            return


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it says nothing"
