"""Every setting, grouped by concern. The text under a field is its documentation, shown in docs/configuration.md.

Defaults stand here and, for operators to read, in defaults.yaml; a test keeps the two equal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from config.architectures import Architectures, Interruptible
from config.group import Group
from config.kafka import Kafka
from config.kubernetes import Kubernetes, Pods, Tasks
from config.stores import S3, Store
from config.values import (
    Address,
    Count,
    Interpreter,
    Label,
    Named,
    Seconds,
    Size,
    Text,
    Version,
)
from config.webhook import Webhook

MIB = 2**20
LARGEST_MESSAGE = 2**31 - 1
"""Bytes: protobuf parses no larger message, in any language."""


def _check_at_least(value: float, other: str, info: ValidationInfo) -> None:
    """Check a setting against another of its group, unless that one is wrong itself and reported already."""
    if value < info.data.get(other, value):
        raise PydanticCustomError("at_least", "Input should be at least {other}", {"other": other})


class Execution(Group):
    """What holds for executions that were submitted without saying so."""

    project: Label = "flytesnacks"
    """Project of an execution; a part of its id and of its paths in the store. The default is the one `pyflyte`
    uses."""
    domain: Label = "development"
    """Domain of an execution; a part of its id and of its paths in the store. The default is the one `pyflyte` uses."""
    max_parallelism: Annotated[int, Field(ge=0), Named("whole number")] = 25
    """Nodes of one execution that run at once, where neither its submission nor its launch plan says; 0 = any number.
    A task, a map and a launch plan node count as one each. The default is Flyte's."""
    max_nesting: Count = 50
    """Levels of child executions that launch plan nodes may start below one another. Ends workflows that start
    themselves without end."""


class Log(Group):
    """The embedded log: one SQLite file in the home."""

    synchronous: Literal["full", "normal"] = "full"
    """What a commit waits for. `full`: the data is on the disk, so nothing acknowledged is lost by a power cut.
    `normal`: the operating system has it; a crash of the engine loses nothing, a power cut may lose the last turns."""


class Processes(Group):
    """Tasks as local processes."""

    max_concurrent: Count | None = None
    """Tasks at once, over all executions. null = the CPUs this process may use, because a task is mostly Python at
    work."""
    python: Interpreter | None = None
    """The Python that has flytekit and the author's libraries: a path, or a name on PATH. null = the one the engine
    runs on."""
    log_limit: Annotated[Size, Field(ge=1024)] = 10 * MIB
    """Bytes kept of each stream (stdout, stderr) of an attempt, head and tail; the middle is cut with a mark. Bounds
    what a task that prints without end can do to the disk."""
    stop_grace_seconds: Seconds = 5.0
    """Seconds between asking an attempt to stop (SIGTERM) and ending it (SIGKILL)."""
    warm: bool = True
    """Keep a parent process with flytekit imported and fork it for each attempt, which saves about a second of CPU a
    task. Off: every attempt starts its own Python. Where forking can't serve, attempts start plainly whatever this
    says."""

    environments: Annotated[Mapping[str, Interpreter], Named("map of image to path")] = {}
    """Other Pythons, for tasks of other images: the image's name as the workflow has it (`*` and `?` as in file names),
    and a path. The first that fits counts; `python` runs the tasks of all other images. Images themselves are never
    used, a raw container's excepted."""
    container_engine: Annotated[str, Field(min_length=1), Named("name or path of a program")] | None = None
    """What runs tasks that are raw containers (flytekit's `ContainerTask`): `podman`, `docker`, or a path to one of
    them. null = podman, else docker, whichever works. Without one, workflows that reach such a task are refused."""
    ignore_architecture: bool = False
    """Run tasks that are for another architecture than this machine's all the same. Off: they fail before anything is
    started. A task's Python is this machine's anyway; only a raw container's image has an architecture of its own."""

    @property
    def slots(self) -> int:
        """Tasks at once, as a number."""
        if self.max_concurrent is not None:
            return self.max_concurrent
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    @property
    def interpreter(self) -> str:
        """Path of the Python that runs the tasks."""
        return self.python or sys.executable


class Retries(Group):
    """Budgets that are the operator's; the author's own stand in the workflow."""

    max_system_failures: Annotated[int, Field(ge=0, le=15), Named("whole number")] = 3
    """Extra attempts a node (or map element) gets for failures that are not its own, such as a lost process. They never
    use up the author's retries. At most 15: a map element keeps this count in four bits."""
    interruptible_failure_threshold: Annotated[int, Field(ge=-16, le=16), Named("whole number")] = -1
    """Failures of that kind after which an interruptible node runs on regular capacity. Negative: counted from the last
    attempt they leave, so that with -1 only that one does. 0 = never. The default is Flyte's."""
    system_wait_seconds: Seconds = 1.0
    """Seconds before a node is tried again after the second of these failures; twice as long after each further one.
    The first is followed at once."""
    user_wait_seconds: Seconds = 0.0
    """Seconds before a retry that the author asked for; twice as long before each further one. 0 = at once, as in
    Flyte."""
    max_wait_seconds: Seconds = 60.0
    """The longest wait between two attempts in seconds, before jitter."""
    jitter: Annotated[float, Field(ge=0, le=1), Named("number from 0 to 1")] = 0.2
    """Share of each wait by which it is made longer or shorter, so that what failed together is not tried again
    together. It follows from the attempt, so a restart of the engine does not change it."""


class Array(Group):
    """Map tasks."""

    max_in_flight: Count = 1000
    """Elements of one map node at once, whatever its author asked for. Bounds the engine's memory."""


class Offloading(Group):
    """Large values travel as references."""

    enabled: bool = True
    """Replace large gathered values by references. Off: they stay inline, and a reference that arrives from elsewhere
    fails the node with `LiteralOffloadingDisabled`."""
    min_size: Size = 10 * MIB
    """Bytes of the serialized value at or above which it becomes a reference. The default is Flyte's."""
    max_size: Annotated[Size, Field(le=LARGEST_MESSAGE)] = 1000 * MIB
    """Bytes of the serialized value at or above which its node fails (USER) instead. The default is Flyte's. Below
    2GiB: no task could parse a larger value."""
    supported_runtimes: Annotated[Mapping[str, Version], Named("map of runtime type to version")] = {
        "FLYTE_SDK": "1.13.14"
    }
    """The lowest version of each task runtime that reads references. A runtime that is not here reads none. A map given
    whole replaces this one; a longer key (`offloading.supported_runtimes.FLYTE_SDK`) changes one entry."""
    incompatible_runtime: Literal["fail", "materialise"] = "materialise"
    """What happens when a task would get a reference that its runtime can't read. `materialise`: the value is put
    inline into that task's inputs, so an old image simply works. `fail`: the node fails (USER,
    `LiteralOffloadingNotSupported`) before anything is started."""
    materialise_max: Annotated[Size, Field(le=LARGEST_MESSAGE)] = 256 * MIB
    """Bytes put inline for one task at most; beyond, it fails as with `fail`. Bounds what an old image must parse."""

    @field_validator("max_size")
    @classmethod
    def _not_below_min(cls, value: int, info: ValidationInfo) -> int:
        _check_at_least(value, "min_size", info)
        return value


class Effects(Group):
    """Work the engine does for a node: resolving inputs, starting tasks, gathering outputs."""

    first_seconds: Annotated[Seconds, Field(gt=0)] = 0.1
    """Seconds before the second try of an effect that met a passing trouble (a store or a system that is down). Each
    further wait is twice as long."""
    max_seconds: Seconds = 10.0
    """The longest of these waits in seconds, before jitter."""
    jitter: Annotated[float, Field(ge=0, le=1), Named("number from 0 to 1")] = 0.2
    """Share of each wait by which it is made longer or shorter by chance, so that many nodes do not try again at the
    same moment."""

    @field_validator("max_seconds")
    @classmethod
    def _not_below_first(cls, value: float, info: ValidationInfo) -> float:
        _check_at_least(value, "first_seconds", info)
        return value


class Schedules(Group):
    """Launch plans that start by themselves, in `propwash serve`."""

    catch_up: Annotated[int, Field(ge=0), Named("whole number")] = 100
    """The most times of one launch plan that are made up for after nobody kept its schedule: the newest ones. 0: none
    is."""


class Http(Group):
    """What `propwash serve` answers over HTTP: metrics, probes and the API."""

    listen: Address | None = None
    """Where it listens: HOST:PORT; port 0 = any that is free, which is told at the start. null = nowhere. `--listen`
    sets it, too."""
    api: bool = True
    """Serve the JSON API there, too. Off: metrics and probes only."""
    token_file: Text | None = None
    """File that holds the token which callers of the API must send (`Authorization: Bearer TOKEN`). null = none, which
    is possible only where no other machine can call. Metrics and probes need none."""
    max_body: Annotated[Size, Field(ge=1024)] = 8 * MIB
    """Bytes of a request at most, and of values that one answer gives."""
    patience_seconds: Annotated[Seconds, Field(gt=0)] = 10.0
    """Seconds that the answer to a request which starts or changes something waits until that is durable; then it is
    503, and what was asked may still happen."""
    stalled_seconds: Annotated[Seconds, Field(gt=0)] = 120.0
    """Seconds after which a turn of the loop that does not end makes `/healthz` answer 503."""


class Tracing(Group):
    """Traces of executions, effects and turns by OpenTelemetry, in `propwash serve`. Needs `pip install
    'propwash[otel]'`. Where they go, and how many are sampled, is said by OpenTelemetry's own environment variables
    (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER` ...)."""

    enabled: bool = False
    """Send traces. Off: nothing is measured for them."""


class Shutdown(Group):
    """Ending the engine."""

    deadline_seconds: Annotated[Seconds, Field(gt=0)] = 10.0
    """Seconds that a stop may take in all: finish the turn at hand, end the attempts that can't outlive the engine,
    close the log. What is unfinished then is done by the next `resume`."""


class Settings(Group):
    """All settings of one engine."""

    execution: Execution = Execution()
    log: Log = Log()
    kafka: Kafka = Kafka()
    store: Store = Store()
    s3: S3 = S3()
    tasks: Tasks = Tasks()
    processes: Processes = Processes()
    kubernetes: Kubernetes = Kubernetes()
    pods: Pods = Pods()
    architectures: Architectures = Architectures()
    interruptible: Interruptible = Interruptible()
    retries: Retries = Retries()
    array: Array = Array()
    offloading: Offloading = Offloading()
    webhook: Webhook = Webhook()
    effects: Effects = Effects()
    schedules: Schedules = Schedules()
    http: Http = Http()
    tracing: Tracing = Tracing()
    shutdown: Shutdown = Shutdown()
