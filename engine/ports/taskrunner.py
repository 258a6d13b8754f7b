"""Runs attempts of tasks: as local processes today, as pods later. It knows nothing of workflows or of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.model.placement import ANYWHERE, Placement
from engine.model.podneeds import PodNeeds


class Mount(Struct, frozen=True):
    """A file or folder that a container finds at a place of its own."""

    uri: str
    path: str
    """Absolute, inside the container."""
    writable: bool = False
    """A folder that is made if it is not there."""


class ContainerRun(Struct, frozen=True):
    """How a raw container is run."""

    image: str
    mounts: tuple[Mount, ...] = ()
    """A later one may lie inside an earlier one."""
    replaces_entrypoint: bool = False
    """The first word of the command takes the place of the image's entry point; else all words are its arguments."""


class TaskRequest(Struct, frozen=True):
    """One attempt, ready to run: templates rendered, inputs stored."""

    key: AttemptKey
    task: TaskSpec
    argv: tuple[str, ...]
    """The container's command and arguments."""
    env: Mapping[str, str]
    """The container's own environment and the engine's FLYTE_* variables, the latter winning."""
    prefix_uri: str
    """The attempt's folder in the store: outputs go there; stdout and stderr are kept there."""
    timeout_seconds: float | None = None
    """From the start of the task, not from this call."""
    interruptible: bool = False
    """It may run on capacity that can be taken away."""
    code_root: str = ""
    """Local folder that holds the task's modules; empty where the image holds them (pods)."""
    image: str = ""
    """What the task is to run in; a runner of processes has a Python for it."""
    overrides: bytes = b""
    """Of the node, a serialized flyteidl `TaskNodeOverrides` (resources, image, pod); the command has them already."""
    pod: PodNeeds = PodNeeds()
    """What is asked of the pod, where the runner makes one."""
    begun: bool = False
    """It was seen running before this call: a runner whose tasks outlive the engine finds it, or it is lost."""
    container: ContainerRun | None = None
    """Of a raw container; any other task runs as the runner sees fit."""
    placement: Placement = ANYWHERE
    """On which nodes a pod of it may run, because of its architecture and because it may be interrupted."""
    root: AttemptKey | None = None
    """What started the executions down to the attempt's own, in the one at the top; None: nothing is above it. Slots go
    round by that execution and that node."""


class ExitReason(StrEnum):
    EXITED = "exited"
    """`code` is its exit status."""
    SIGNALLED = "signalled"
    """`code` is the signal's number."""
    TIMED_OUT = "timed out"
    OOM_KILLED = "out of memory"
    LOST = "lost"
    """Gone, nobody knows how; its files decide."""
    REFUSED = "refused"
    """Could not be started as asked: the author's or the operator's mistake; `message` says which."""
    NOT_STARTED = "not started"
    """Could not be started, through no fault of the task."""


class Exit(Struct, frozen=True):
    reason: ExitReason
    code: int = 0
    message: str = ""
    """For people: what was seen, e.g. the last lines of stderr."""
    started_at: float = 0.0
    ended_at: float = 0.0
    condition: str = ""
    """The error code of what ended it, where the world has a name for that (Flyte's, where it has one)."""

    @property
    def well(self) -> bool:
        """It ran to its end and has no complaint."""
        return self.reason is ExitReason.EXITED and self.code == 0


class TaskRunner(Protocol):
    @property
    def outlives(self) -> bool:
        """What it has started goes on when the engine ends, and is found again by its key."""
        ...

    async def refuses(self, task: TaskSpec) -> str:
        """Why this runner can't run a task at all; "" = it can. To be asked before anything is started."""
        ...

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        """Start the attempt (or adopt it, if it runs already under the same key) and wait for its end.

        `started` is called once, when the task really runs: waiting for a slot comes before it. At the return nothing
        of the attempt runs any more, children it left behind included. Cancelling the call ends the attempt likewise
        (a runner whose tasks outlive the engine leaves it running instead). Raises Transient; Permanent: it never ran,
        and why.
        """
        ...

    async def stop(self, key: AttemptKey) -> None:
        """End the attempt, if it runs, and return when it is gone. Idempotent. Raises Transient."""
        ...
