"""Compiles task templates: what the engine keeps of a task, and whether anything here can run it."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import RetryStrategy
from flyteidl.core.tasks_pb2 import RuntimeMetadata, TaskMetadata, TaskTemplate
from flyteidl.core.types_pb2 import SimpleType
from flyteidl.core.workflow_pb2 import NodeMetadata
from google.protobuf.duration_pb2 import Duration
from msgspec import Struct

from engine.model.graph import ArraySpec, TaskSpec
from engine.model.ids import EntityKind
from engine.wire.architecture import declared
from engine.wire.compile_cache import Caching, caching_of_task
from engine.wire.compile_legacy_maps import LEGACY_MAP, modern
from engine.wire.interfaces import entity_id, interface_of
from engine.wire.typenames import type_name

ECHO, RAW_CONTAINER = "echo", "raw-container"


class Policy(Struct, frozen=True):
    """How often, how long and where: said by a task, or by a node, which then wins field by field."""

    retries: int = 0
    timeout_seconds: float | None = None
    interruptible: bool | None = None

    def over(self, task: Policy) -> Policy:
        """This node's policy; what it does not say is the task's."""
        return Policy(
            self.retries or task.retries,
            self.timeout_seconds if self.timeout_seconds is not None else task.timeout_seconds,
            self.interruptible if self.interruptible is not None else task.interruptible,
        )


class CompiledTask(Struct, frozen=True):
    spec: TaskSpec
    policy: Policy
    caching: Caching
    array: ArraySpec | None = None
    """It is a map task of the old kind: its nodes are maps."""
    lacks: str = ""
    """Why no runner of this version can run it; empty if one can."""


def policy_of(metadata: TaskMetadata | NodeMetadata) -> Policy:
    said = metadata.WhichOneof("interruptible_value") is not None
    return Policy(
        _retries(metadata.retries), _seconds(metadata.timeout), bool(metadata.interruptible) if said else None
    )


def _retries(strategy: RetryStrategy) -> int:
    return strategy.retries


def _seconds(duration: Duration) -> float | None:
    """None for the zero duration: flytekit writes it for "no timeout"."""
    return (duration.seconds + duration.nanos / 1e9) or None


def compile_task(template: TaskTemplate) -> CompiledTask:
    """Nothing in the message tells a @dynamic task from any other."""
    array = None
    if template.type == LEGACY_MAP and (found := modern(template)) is not None:
        template, array = found
    runtime = template.metadata.runtime
    sdk = runtime.type == RuntimeMetadata.RuntimeType.FLYTE_SDK
    spec = TaskSpec(
        id=entity_id(template.id, EntityKind.TASK),
        type=template.type,
        interface=interface_of(template.interface),
        template=template.SerializeToString(deterministic=True),
        runtime_type="FLYTE_SDK" if sdk else "OTHER",
        runtime_version=runtime.version,
        architecture=declared(template),
        raw_container=_is_raw(template),
    )
    return CompiledTask(spec, policy_of(template.metadata), caching_of_task(template), array, lacks_of(template))


def _is_raw(template: TaskTemplate) -> bool:
    """A raw container says so by its type, or by where it keeps its data."""
    target = template.k8s_pod if template.WhichOneof("target") == "k8s_pod" else template.container
    return template.type == RAW_CONTAINER or target.data_config.enabled


def lacks_of(template: TaskTemplate) -> str:
    """Why a task can't be run here, or the empty string."""
    if template.metadata.is_eager:
        return (
            "it is an @eager workflow, which starts its tasks through a Flyte admin service, and this version offers "
            "none; write it as a @workflow, or as a @dynamic where it decides by values"
        )
    if template.type == LEGACY_MAP:
        return (
            "it is a map task of an old kind (type container_array) that flytekit.core.legacy_map_task did not write; "
            "use flytekit.map_task"
        )
    if _is_raw(template):
        return _raw_lacks(template)
    match template.WhichOneof("target"):
        case "container":
            container = template.container
            if not container.command and not container.args:
                return "it has no command of its own: running its image's needs a runner that this version lacks"
            return ""
        case "k8s_pod":
            return ""
        case _ if template.type == ECHO:
            return ""
        case _:
            return f"tasks of type {template.type!r} have no container: they need a runner that this version lacks"


def _raw_lacks(template: TaskTemplate) -> str:
    """What a container leaves as files is text of plain values, files and directories."""
    for name, variable in sorted(template.interface.outputs.variables.items()):
        kind = variable.type
        if kind.WhichOneof("type") not in ("blob", "enum_type") and kind.simple not in _TEXTS:
            return f"its output {name!r} is of type {type_name(kind)}, which a container can't leave as a file"
    return ""


_TEXTS = {
    SimpleType.INTEGER,
    SimpleType.FLOAT,
    SimpleType.STRING,
    SimpleType.BOOLEAN,
    SimpleType.DATETIME,
    SimpleType.DURATION,
    SimpleType.STRUCT,
}
