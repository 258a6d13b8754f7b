"""The two zygotes of an interpreter, warm and plain, and which of them serves a command."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread
from anyio.abc import TaskGroup

from engine.adapters.processes import command, place
from engine.adapters.processes.keeper import Keeper
from engine.adapters.processes.parent import Parent, Setup
from engine.adapters.processes.sweep import sweep

log = logging.getLogger(__name__)


class Zygotes:
    """`warm` has flytekit imported and forks; `plain` starts any command. Each is started when it is first wanted."""

    def __init__(
        self,
        tasks: TaskGroup,
        folder: Path,
        python: str,
        environ: Mapping[str, str],
        numbers: Iterator[int],
        *,
        fork: bool,
    ) -> None:
        """`numbers`: what tells a zygote from every other one that works for this folder."""
        self._folder, self._python, self._environ = folder, python, environ
        self._bin = os.path.dirname(python)
        self._fork = fork and sys.platform == "linux"
        self._numbers = numbers
        self._obstacles: set[str] = set()
        self._warm = Keeper(tasks, partial(self._make, warm=True))
        self._plain = Keeper(tasks, partial(self._make, warm=False))

    async def warm(self) -> None:
        """Get the warm one ready, if it is ever to be used."""
        if self._fork:
            try:
                await self._warm.get()
            except OSError as error:
                log.warning("the warm parent can't be started yet", extra={"cause": str(error)})

    async def choose(self, argv: Sequence[str], env: Mapping[str, str]) -> Parent:
        """The one that serves this command. Raises OSError: no process can be started now."""
        if self._fork and command.runs_flytekit(argv, self._bin):
            obstacle = self._frozen_difference(env)
            if not obstacle:
                parent = await self._warm.get()
                obstacle = parent.problem or await to_thread.run_sync(_shadow, env, parent)
                if not obstacle:
                    return parent
            if obstacle not in self._obstacles:
                self._obstacles.add(obstacle)
                log.warning("tasks start their own Python, about a second slower", extra={"cause": obstacle})
        return await self._plain.get()

    def _frozen_difference(self, env: Mapping[str, str]) -> str:
        ours, theirs = command.frozen(self._environ), command.frozen(env)
        names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        return f"the task sets {', '.join(names)}, which Python and flytekit read at their start" if names else ""

    def _make(self, *, warm: bool) -> Parent:
        number = str(next(self._numbers))
        folder = self._folder / f"zygote-{number}"
        mark = (mark_name(self._folder), number)
        env = command.zygote_environment(self._environ, mark, folder)
        return Parent(Setup(self._python, warm, env, mark, folder / "words"))


def _shadow(env: Mapping[str, str], parent: Parent) -> str:
    path = command.shadowed(env, parent.modules)
    return path and f"{path} is imported before the module of that name in the warm parent"


def mark_name(folder: Path) -> str:
    """The environment variable that every process started for this folder carries."""
    return f"PROPWASH_RUNNER_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def take_over(folder: Path) -> None:
    """End what an earlier engine left running here and delete its folders (blocking). Raises OSError."""
    if folder.exists():
        if killed := sweep(f"{mark_name(folder)}=".encode()):
            log.warning("processes of an earlier engine were ended", extra={"folder": str(folder), "count": killed})
        place.remove(folder)
    folder.mkdir(parents=True, exist_ok=True)
