"""Links to where the logs of a pod are kept, made from an operator's templates with Flyte's variables."""

from __future__ import annotations

import re
from datetime import datetime

from engine.adapters.kubernetes.options import LogLink
from engine.adapters.kubernetes.status import Pod
from engine.ports.taskrunner import TaskRequest

_VARIABLE = re.compile(r"\{\{\s*\.(\w+(?:\.\w+)?)\s*\}\}")


def links(templates: tuple[LogLink, ...], pod: Pod, request: TaskRequest) -> dict[str, str]:
    """By name. A variable without a value stays as it is, as in Flyte."""
    values = _values(pod, request)
    return {it.name: _VARIABLE.sub(lambda found: values.get(found[1].lower()) or found[0], it.uri) for it in templates}


def _values(pod: Pod, request: TaskRequest) -> dict[str, str]:
    key, task, primary = request.key, request.task.id, pod.primary()
    done = primary.state.terminated if primary else None
    running = primary.state.running if primary else None
    began = done.started_at if done else running.started_at if running else None
    found = {
        "logname": f"{key.execution.name}-{key.path}",
        "podname": pod.name,
        "poduid": pod.uid,
        "namespace": pod.metadata.namespace,
        "containername": pod.metadata.annotations.primary,
        "containerid": primary.container_id.rpartition("//")[2] if primary else "",
        "hostname": pod.spec.node_name,
        "nodename": pod.spec.node_name,
        "taskid": task.name,
        "taskversion": task.version,
        "taskproject": task.project,
        "taskdomain": task.domain,
        "taskretryattempt": str(key.attempt),
        "nodeid": key.path,
        "executionname": key.execution.name,
        "executionproject": key.execution.project,
        "executiondomain": key.execution.domain,
        "generatedname": pod.name,
        **{f"taskconfig.{name}".lower(): value for name, value in request.pod.config.items()},
    }
    return found | _times("start", began) | _times("finish", done.finished_at if done else None)


def _times(which: str, time: datetime | None) -> dict[str, str]:
    if time is None:
        return {}
    return {f"podrfc3339{which}time": time.isoformat(), f"podunix{which}time": str(int(time.timestamp()))}
