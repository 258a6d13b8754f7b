"""The status that a kubelet writes for a pod, from the states of its containers. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from msgspec import Struct

from tests.backing.kubernetes.api import Document
from tests.backing.kubernetes.specs import DISRUPTIONS, Container, Pod


class State(Struct, frozen=True):
    """Of one container; with `started` it has run, with `ended` it is over, with neither it waits."""

    started: float | None = None
    ended: float | None = None
    exit: int = 0
    reason: str = "ContainerCreating"
    message: str = ""

    @property
    def well(self) -> bool:
        return self.ended is not None and self.exit == 0


class PodEnd(Struct, frozen=True):
    """An end that is the pod's own, not its container's."""

    reason: str
    message: str = ""


def status(pod: Pod, states: Mapping[str, State], born: float, end: PodEnd | None = None) -> Document:
    """As a strategic merge patch of the pod's status."""
    phase = "Failed" if end else phase_of(pod, states)
    inits = [_described(each, states) for each in pod.spec.init_containers]
    regular = [_described(each, states) for each in pod.spec.containers]
    document: Document = {
        "phase": phase,
        "startTime": stamp(born),
        "hostIP": "127.0.0.1",
        "podIP": "127.0.0.1",
        "conditions": _conditions(pod, phase, states, end),
        "containerStatuses": regular,
        "initContainerStatuses": inits,
    }
    if end:
        document |= {"reason": end.reason, "message": end.message}
    return {"status": document}


def phase_of(pod: Pod, states: Mapping[str, State]) -> str:
    inits = [states.get(each.name, State()) for each in pod.spec.init_containers if each.restart_policy != "Always"]
    regular = [states.get(each.name, State()) for each in pod.spec.containers]
    if any(each.ended is not None and each.exit for each in inits):
        return "Failed"
    if not all(each.well for each in inits) or any(each.started is None and each.ended is None for each in regular):
        return "Pending"
    if any(each.ended is None for each in regular):
        return "Running"
    return "Succeeded" if all(each.well for each in regular) else "Failed"


def stamp(seconds: float) -> str:
    """A time of the API: whole seconds, UTC."""
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _described(container: Container, states: Mapping[str, State]) -> Document:
    state = states.get(container.name, State(reason="PodInitializing"))
    running = state.started is not None and state.ended is None
    described: Document = {
        "name": container.name,
        "image": container.image,
        "imageID": container.image if state.started is not None else "",
        "ready": running,
        "started": running,
        "restartCount": 0,
        "state": _state(container, state),
    }
    if state.started is not None:
        described["containerID"] = f"test://{container.name}"
    return described


def _state(container: Container, state: State) -> Document:
    if state.ended is not None:
        terminated: Document = {"exitCode": state.exit, "reason": state.reason, "finishedAt": stamp(state.ended)}
        terminated |= {"message": state.message} if state.message else {}
        terminated |= {"startedAt": stamp(state.ended if state.started is None else state.started)}
        return {"terminated": terminated | {"containerID": f"test://{container.name}"}}
    if state.started is not None:
        return {"running": {"startedAt": stamp(state.started)}}
    return {"waiting": {"reason": state.reason, **({"message": state.message} if state.message else {})}}


def _conditions(pod: Pod, phase: str, states: Mapping[str, State], end: PodEnd | None) -> list[Document]:
    inits = [each for each in pod.spec.init_containers if each.restart_policy != "Always"]
    initialized = all(states.get(each.name, State()).well for each in inits)
    waiting = "PodCompleted" if phase == "Succeeded" else "PodFailed" if phase == "Failed" else "ContainersNotReady"
    ready = {"status": "True"} if phase == "Running" else {"status": "False", "reason": waiting}
    names = " ".join(each.name for each in pod.spec.containers)
    ready |= {"message": f"containers with unready status: [{names}]"} if phase == "Pending" else {}
    made = [
        {"type": "PodReadyToStartContainers", "status": "True"},
        {"type": "Initialized", "status": str(initialized)},
        {"type": "ContainersReady", **ready},
        {"type": "Ready", **ready},
    ]
    if end and end.reason in DISRUPTIONS:
        made.append(
            {"type": "DisruptionTarget", "status": "True", "reason": DISRUPTIONS[end.reason], "message": end.message}
        )
    return made
