"""The FLYTE_* variables of an attempt, as FlytePropeller 1.16 sets them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from engine.model.effects import Origin
from engine.model.graph import NodeSpec, TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind
from engine.model.limits import MIB, OffloadLimits

INDEX = "FLYTE_K8S_ARRAY_INDEX"
_NO_MAXIMUM = 1024 * 1024 * 1024
"""MiB: more than there is."""


def environment(
    key: AttemptKey, spec: NodeSpec, task: TaskSpec, origin: Origin, limits: OffloadLimits
) -> dict[str, str]:
    """What the engine tells the task about itself, its execution, its place in a map and the limits of values."""
    execution = key.execution
    return {
        **_of_all(origin.workflow, origin.entity, task.id),
        "FLYTE_INTERNAL_EXECUTION_ID": execution.name,
        "FLYTE_INTERNAL_EXECUTION_PROJECT": execution.project,
        "FLYTE_INTERNAL_EXECUTION_DOMAIN": execution.domain,
        "FLYTE_ATTEMPT_NUMBER": str(key.attempt),
        **_array(key, spec),
        **(_offloading(limits) if key.index is None else {}),
    }


@lru_cache(maxsize=256)
def _of_all(workflow: EntityId, entity: EntityId, task: EntityId) -> Mapping[str, str]:
    """What all attempts of a task have in common."""
    found = {
        "FLYTE_INTERNAL_EXECUTION_WORKFLOW": _named(workflow),
        "FLYTE_INTERNAL_TASK_PROJECT": task.project,
        "FLYTE_INTERNAL_TASK_DOMAIN": task.domain,
        "FLYTE_INTERNAL_TASK_NAME": task.name,
        "FLYTE_INTERNAL_TASK_VERSION": task.version,
    }
    if entity.kind is EntityKind.LAUNCH_PLAN:
        found["FLYTE_INTERNAL_EXECUTION_LAUNCHPLAN"] = _named(entity)
    return found


def _named(entity: EntityId) -> str:
    return f"{entity.project}:{entity.domain}:{entity.name}"


def _array(key: AttemptKey, spec: NodeSpec) -> dict[str, str]:
    """User code sees index k; the offset leads flytekit to item 0, the only one in an element's own inputs."""
    if key.index is None:
        return {}
    found = {INDEX: str(key.index), "BATCH_JOB_ARRAY_INDEX_VAR_NAME": INDEX}
    if spec.array is None or not spec.array.original_interface:
        found["BATCH_JOB_ARRAY_INDEX_OFFSET"] = str(-key.index)
    return found


def _offloading(limits: OffloadLimits) -> dict[str, str]:
    """flytekit counts in whole MiB: it never offloads what the engine would not, and less than 1 MiB can't be said.

    A map element is told nothing: its output belongs into the list, which is offloaded as a whole. The maximum is the
    judge's business, because flytekit reports a value above it as a system error that is worth three more attempts.
    """
    if not limits.enabled or limits.min_size < MIB:
        return {}
    return {"_F_L_MIN_SIZE_MB": str(-(-limits.min_size // MIB)), "_F_L_MAX_SIZE_MB": str(_NO_MAXIMUM)}
