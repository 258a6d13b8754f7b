"""Builders of requests, pods and statuses for tests of the runner of pods."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.adapters.kubernetes.naming import KEY, UPLOADS, pod_name, written
from engine.adapters.kubernetes.spec import PRIMARY
from engine.adapters.kubernetes.status import Pod
from engine.model.graph import Interface, TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.model.podneeds import PodNeeds
from engine.ports.taskrunner import TaskRequest

Json = dict[str, Any]
TASK = TaskSpec(EntityId(EntityKind.TASK, "p", "d", "proj.tasks.t", "v"), "python-task", Interface(), b"")
NOON = "2026-01-01T12:00:00Z"
NOON_SECONDS = 1767268800.0


def key(path: str = "n0", attempt: int = 0, **other: Any) -> AttemptKey:
    return AttemptKey(ExecutionId("p", "d", "e"), path, attempt, **other)


def request(*argv: str, at: AttemptKey | None = None, needs: PodNeeds = PodNeeds(), **other: Any) -> TaskRequest:
    given: Json = {"image": "repo/image:1", "env": {"A": "1"}, **other}
    return TaskRequest(at or key(), TASK, argv, prefix_uri="memory://store/p", pod=needs, **given)


def terminated(code: int, reason: str = "Error", message: str = "") -> Json:
    end: Json = {"exitCode": code, "reason": reason, "startedAt": NOON, "finishedAt": "2026-01-01T12:00:09Z"}
    return {"terminated": {**end, **({"message": message} if message else {})}}


def waiting(reason: str, message: str = "") -> Json:
    return {"waiting": {"reason": reason, "message": message}}


RUNNING: Json = {"running": {"startedAt": NOON}}


def container(name: str, state: Json, image: str = "repo/image:1") -> Json:
    return {"name": name, "state": state, "image": image, "ready": False, "restartCount": 0}


def condition(type: str, status: str, reason: str = "", message: str = "", at: str = NOON) -> Json:
    return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


SCHEDULED = condition("PodScheduled", "True")


def pod(
    phase: str,
    *states: Json,
    init: list[Json] | None = None,
    conditions: list[Json] | None = None,
    reason: str = "",
    message: str = "",
    deleted: bool = False,
    uploads: bool = False,
) -> Pod:
    """The first state is that of the container that runs the task."""
    named = [container("main" if number == 0 else f"side{number}", it) for number, it in enumerate(states)]
    metadata: Json = {
        "name": pod_name(key()),
        "uid": "u1",
        "creationTimestamp": NOON,
        "annotations": {KEY: written(key()), PRIMARY: "main", **({UPLOADS: "true"} if uploads else {})},
        **({"deletionTimestamp": NOON} if deleted else {}),
    }
    status: Json = {"phase": phase, "reason": reason, "message": message, "containerStatuses": named}
    status |= {"initContainerStatuses": init or [], "conditions": conditions or []}
    return msgspec.convert({"metadata": metadata, "spec": {"nodeName": "node1"}, "status": status}, Pod)
