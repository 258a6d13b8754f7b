"""Where an attempt is to run: from what its task, its pod, its execution and the operator say of architectures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from flyteidl.core import tasks_pb2, workflow_pb2
from google.protobuf import json_format

from engine.machine.placement import Said, named, place
from engine.machine.podpins import check_pod, pinned_architectures
from engine.model.architectures import PLAN_LABEL, TASK_LABEL, Architecture, declared_by_label
from engine.model.effects import RunElement, RunTask
from engine.model.placement import ANYWHERE, Placement, PlacementRules, node_label


def placement_of(effect: RunTask | RunElement, rules: PlacementRules) -> Placement:
    """Raises Permanent (USER): an architecture that is not configured or that there is not, a pod that contradicts."""
    task, origin = effect.task, effect.origin
    pod = _pod(task.template, effect.spec.overrides)
    if not (pod or task.architecture or origin.overrides.architecture or origin.architecture or rules.speak):
        return ANYWHERE
    pinned = pinned_architectures(pod)
    own = task.architecture or _only(pinned, rules)
    said = Said(
        named(origin.overrides.architecture, "the execution"),
        named(origin.architecture, f"label {PLAN_LABEL} of {origin.entity}"),
        named(own, f"label {TASK_LABEL} of {task.id}"),
        _fitting(rules.default_of(effect.key.execution), pinned),
        _fitting(rules.default, pinned),
    )
    placement = place(said, rules, interruptible=effect.interruptible)
    check_pod(placement, pod, f"the pod template of {task.id}")
    return placement


def _only(pinned: frozenset[str] | None, rules: PlacementRules) -> str:
    """What a pod declares that leaves one architecture open. One that is not configured is the pod's own affair: it
    says all that its nodes need, and has run so before."""
    declared = declared_by_label(min(pinned)) if pinned is not None and len(pinned) == 1 else ""
    return declared if declared in rules.architectures else ""


def _fitting(default: Architecture | None, pinned: frozenset[str] | None) -> Architecture | None:
    """A default is for tasks that say nothing, so it never contradicts a pod."""
    return default if pinned is None or node_label(default) in pinned else None


@lru_cache(maxsize=256)
def _pod(template: bytes, overrides: bytes) -> Mapping[str, object]:
    """The author's pod spec as JSON: the node's own, else the task's; empty where there is none."""
    said = workflow_pb2.TaskNodeOverrides.FromString(overrides)
    task = tasks_pb2.TaskTemplate.FromString(template)
    spec = said.pod_template.pod_spec if said.HasField("pod_template") else task.k8s_pod.pod_spec
    found: dict[str, object] = json_format.MessageToDict(spec)
    return found
