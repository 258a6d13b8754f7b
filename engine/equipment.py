"""What the engines of one process share, as the settings say: a store, a runner of tasks, a cache and the limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from engine.loop.hooks import Hook, nothing
from engine.model.errors import BadInput
from engine.model.limits import ArrayLimits, ExecutionLimits, IncompatibleRuntime, OffloadLimits, RetryLimits
from engine.model.placement import PlacementRules
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import TaskRunner
from engine.ports.vetting import Vetting
from engine.ports.waits import Tells
from engine.routing import local_rules, placement_rules
from engine.stores import open_store
from engine.vetting import vetting_of_pods, vetting_of_processes

if TYPE_CHECKING:
    from config.settings import Offloading, Settings
    from engine.adapters.kubernetes.runner import PodRunner
    from engine.adapters.processes.runner import LocalRunner
    from engine.app import Door, Equipment
    from engine.loop.meter import Meter
    from engine.machine.draft import Rules

RUNNING_FOLDER = "running"
"""Where attempts work, and what is below it, belongs to the runner (engine.adapters.processes)."""


@asynccontextmanager
async def equipped(
    home: Path,
    settings: Settings,
    name: str,
    hook: Hook = nothing,
    meter: Meter | None = None,
    *,
    warm: bool = False,
) -> AsyncIterator[Equipment]:
    """Until the block is left: then the attempts that it runs are ended, and the store is closed.

    name: of this process, that no other living one has; what one of that name had reserved is this one's. `warm`: make
    the first task's start quick. Raises BadInput, StoreFailed, StoreRefused, Transient.
    """
    from engine.adapters.leases import Leases
    from engine.adapters.storecache import StoreCache
    from engine.adapters.systemclock import SystemClock
    from engine.app import Equipment, load_program
    from engine.loop.backoff import Backoff

    retries, arrays, executions = _limits_of(settings)
    async with open_store(home, settings) as (plain, environment):
        blobs = meter.store(plain) if meter else plain
        effects = settings.effects
        async with _tasks(home, settings, blobs, environment, meter, warm=warm) as tasks:
            cache = StoreCache(blobs, Leases(blobs, engine=name))
            made = Equipment(
                blobs=blobs,
                runner=tasks.runner,
                clock=SystemClock(),
                cache=cache,
                placement=tasks.placement,
                vetting=tasks.vetting,
                offload=_offload_limits(settings.offloading),
                retries=retries,
                arrays=arrays,
                executions=executions,
                backoff=Backoff(effects.first_seconds, effects.max_seconds, effects.jitter),
                load=partial(load_program, blobs),
                hook=hook,
                meter=meter,
                tells=(*tasks.tells, cache),
                chores=tasks.chores,
                code_here=tasks.code_here,
            )
            pods = tasks.pods
            yield replace(made, expands=True, printed=pods.printed, hindrance=pods.trouble) if pods else made


def rules_of(settings: Settings) -> Rules:
    """What the machine of an engine with these settings decides with."""
    from engine.machine.draft import Rules
    from handlers.registry import default_handlers

    return Rules(default_handlers(), *_limits_of(settings))


def _limits_of(settings: Settings) -> tuple[RetryLimits, ArrayLimits, ExecutionLimits]:
    return (
        RetryLimits(**settings.retries.model_dump()),
        ArrayLimits(settings.array.max_in_flight),
        ExecutionLimits(settings.execution.max_parallelism, settings.execution.max_nesting),
    )


@dataclass(frozen=True, slots=True)
class _Tasks:
    """What runs tasks, and what that needs."""

    runner: TaskRunner
    placement: PlacementRules
    vetting: Sequence[Vetting]
    chores: Sequence[Door] = ()
    code_here: bool = True
    pods: PodRunner | None = None
    tells: Sequence[Tells] = ()


@asynccontextmanager
async def _tasks(
    home: Path, settings: Settings, blobs: BlobStore, environment: dict[str, str], meter: Meter | None, *, warm: bool
) -> AsyncIterator[_Tasks]:
    """As the settings say."""
    if settings.tasks.runner == "kubernetes":
        from engine.clusters import pod_runner, tidy

        rules = placement_rules(settings)
        async with (
            await to_thread.run_sync(pod_runner, home, settings, blobs, environment) as pods,
            vetting_of_pods(settings, rules, pods) as vetting,
        ):
            if meter is not None:
                meter.watching(pods.silence_seconds, pods.watched)
            yield _Tasks(pods, rules, vetting, [partial(tidy, pods)], settings.pods.shared_folders, pods)
        return
    processes = _processes(home, settings, blobs, environment)
    async with _entered(processes, home):
        if warm:
            processes.warm()
        yield _Tasks(processes, local_rules(settings), vetting_of_processes(settings), tells=[processes])


def _processes(home: Path, settings: Settings, blobs: BlobStore, environment: dict[str, str]) -> LocalRunner:
    from engine.adapters.processes.programs import Programs
    from engine.adapters.processes.runner import LocalRunner, StoreAccess

    processes = settings.processes
    return LocalRunner(
        home,
        programs=Programs(processes.interpreter, tuple(processes.environments.items()), processes.container_engine),
        max_concurrent=processes.slots,
        log_limit=processes.log_limit,
        # Half of the deadline, so that closing the log has time whatever the tasks do.
        stop_grace_seconds=min(processes.stop_grace_seconds, settings.shutdown.deadline_seconds / 2),
        fork=processes.warm,
        store=StoreAccess(blobs.put, environment),
    )


@asynccontextmanager
async def _entered(runner: LocalRunner, home: Path) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(runner)
        except OSError as error:
            raise BadInput(
                f"home {home} can't be used: what an earlier engine left running can't be cleared away: {error}; "
                "nothing was started"
            ) from error
        yield


def _offload_limits(settings: Offloading) -> OffloadLimits:
    return OffloadLimits(
        enabled=settings.enabled,
        min_size=settings.min_size,
        max_size=settings.max_size,
        supported_runtimes=settings.supported_runtimes,
        incompatible_runtime=IncompatibleRuntime(settings.incompatible_runtime),
        materialise_max=settings.materialise_max,
    )
