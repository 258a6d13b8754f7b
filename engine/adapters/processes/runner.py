"""LocalRunner: attempts as processes of this machine, a few at a time."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio import to_thread
from msgspec import Struct, structs

from engine.adapters.attempts import Attempts
from engine.adapters.processes import command, containers, place, room
from engine.adapters.processes.containers import Containers
from engine.adapters.processes.messages import Ended, Start
from engine.adapters.processes.programs import Programs
from engine.adapters.processes.watch import watch
from engine.adapters.processes.zygotes import Zygotes, take_over
from engine.model.errors import EngineError, Transient
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

log = logging.getLogger(__name__)

Put = Callable[[str, bytes], Awaitable[None]]
"""Stores an object at a URI, as BlobStore.put does."""
NO_COMMAND = "its container has no command; the entry point of an image can't be run as a local process"
CLEANUP_SECONDS = 30.0
"""For storing the output and deleting the folder of an attempt, also when the engine is told to stop."""


class StoreAccess(Struct, frozen=True):
    """A store that is no folder of this machine."""

    put: Put
    environ: Mapping[str, str] = {}
    """What tasks need to reach it, beside what they inherit."""


class LocalRunner:
    """A TaskRunner. Enter it (`async with`) before use; when the block ends nothing that it started runs.

    `workdir` belongs to this runner alone: processes that an earlier one left there are killed, its folders deleted.
    Every attempt starts in an empty folder of its own; the author's modules are on PYTHONPATH, not in that folder.
    `log_limit`: bytes kept of stdout and of stderr, beside the attempt's outputs; `store` keeps them where the
    attempt's prefix is not a local folder. `fork`: keep a parent with flytekit imported and fork it (Linux only).
    `programs`: which Python runs the tasks of which image, and what runs raw containers.
    Entering raises BadInput (there is no such Python) and OSError (`workdir` can't be used).
    """

    outlives = False

    def __init__(
        self,
        workdir: Path,
        *,
        programs: Programs | None = None,
        max_concurrent: int | None = None,
        log_limit: int = 10 * 2**20,
        stop_grace_seconds: float = 5.0,
        fork: bool = True,
        store: StoreAccess | None = None,
    ) -> None:
        self._folder, self._programs, self._fork = workdir, programs or Programs(), fork
        self._log_limit, self._grace, self._store = log_limit, stop_grace_seconds, store
        self._environ = command.without_secrets({**os.environ, **(store.environ if store else {})})
        self._attempts = Attempts(max_concurrent or os.cpu_count() or 1)
        self._numbers, self._zygote_numbers = itertools.count(1), itertools.count(1)
        self._zygotes: dict[str, Zygotes] = {}
        """By interpreter."""
        self._exits = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await to_thread.run_sync(self._take_over)
        self._containers = Containers(self._programs.container_engine, self._folder, self._environ)
        await self._containers.take_over()
        self._tasks = await self._exits.enter_async_context(anyio.create_task_group())
        return self

    def _take_over(self) -> None:
        self._programs = self._programs.located()
        self._folder = self._folder.resolve() / "running"
        take_over(self._folder)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        self._tasks.cancel_scope.cancel()
        try:
            return await self._exits.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            if group.exceptions != (error,):
                raise
            return None  # the block's own error goes on as it is, not wrapped by the task group
        finally:
            with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
                await self._attempts.settle()
                await self._containers.leave()
            await _bounded(place.remove, self._folder)

    def warm(self) -> None:
        """Start the warm parent in the background, so that the first flytekit task need not wait for its import."""
        self._tasks.start_soon(self._zygotes_of(self._programs.python).warm)

    def _zygotes_of(self, python: str) -> Zygotes:
        if python not in self._zygotes:
            numbers, fork = self._zygote_numbers, self._fork
            self._zygotes[python] = Zygotes(self._tasks, self._folder, python, self._environ, numbers, fork=fork)
        return self._zygotes[python]

    async def refuses(self, task: TaskSpec) -> str:
        """See TaskRunner."""
        return await self._containers.problem() if task.raw_container else ""

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        """See TaskRunner. Transient: no folder, no process, no memory to be had at the moment.

        StoreFailed: the attempt failed on a full disk; seen before its own files are deleted.
        """
        return await self._attempts.run(request.key, started, partial(self._perform, request), request.root)

    async def stop(self, key: AttemptKey) -> None:
        """See TaskRunner."""
        await self._attempts.stop(key)

    def waits(self, execution: ExecutionId) -> Mapping[str, str]:
        """See engine.ports.waits."""
        return self._attempts.waits(execution)

    async def _perform(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        if not request.argv and request.container is None:
            return Exit(ExitReason.REFUSED, 0, NO_COMMAND)
        folder = self._folder / str(next(self._numbers))
        try:
            where = await to_thread.run_sync(place.prepare, folder, request.prefix_uri)
            ended = await self._execute(request, where, started)
            await room.check(ended, request.key, folder)
            return ended
        except OSError as error:
            raise Transient(f"no folder or no process for attempt {request.key}: {error}") from error
        finally:
            await _bounded(place.remove, folder)

    async def _execute(self, request: TaskRequest, where: place.Place, started: Callable[[], None]) -> Exit:
        if request.container is None:
            python = self._programs.python_of(request.image)
            env = command.environment(self._environ, request, os.path.dirname(python), where)
            return await self._watch(request, env, where, started)
        try:
            argv = await self._containers.command(request)
        except containers.Refused as problem:
            return Exit(ExitReason.REFUSED, 0, str(problem))
        ended: Exit | None = None
        try:
            ended = await self._watch(structs.replace(request, argv=argv), self._environ, where, started)
            return containers.ended(ended)
        finally:
            if ended is None or ended.reason is not ExitReason.EXITED:
                await self._containers.remove(request.key)

    async def _watch(
        self, request: TaskRequest, env: Mapping[str, str], where: place.Place, started: Callable[[], None]
    ) -> Exit:
        zygotes = self._zygotes_of(self._programs.python_of(request.image))
        parent = await zygotes.choose(request.argv, env)
        logs = str(where.stdout), str(where.stderr)
        job = parent.start(Start(request.argv, env, str(where.cwd), *logs, self._log_limit))
        try:
            return await watch(parent, job, request, started, self._grace, env.get("PATH", os.defpath))
        finally:
            if isinstance(job.end, Ended) and job.end.log_problem:
                extra = {"key": str(request.key), "cause": job.end.log_problem}
                log.warning("what a task printed could not be kept", extra=extra)
            if not place.is_local(request.prefix_uri):
                with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
                    await self._store_logs(request, where)

    async def _store_logs(self, request: TaskRequest, where: place.Place) -> None:
        for path in (where.stdout, where.stderr):
            try:
                if self._store is not None:
                    await self._store.put(f"{request.prefix_uri}/{path.name}", await anyio.Path(path).read_bytes())
            except (EngineError, OSError) as error:
                extra = {"key": str(request.key), "file": path.name, "cause": str(error)}
                log.warning("what a task printed could not be stored", extra=extra)


async def _bounded(remove: Callable[[Path], None], folder: Path) -> None:
    with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
        await to_thread.run_sync(remove, folder, abandon_on_cancel=True)
