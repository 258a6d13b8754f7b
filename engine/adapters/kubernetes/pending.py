"""A pod whose task does not run yet: what it waits for, and when that has been too long (section 8.4)."""

from __future__ import annotations

from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.states import Never, Pending, State
from engine.adapters.kubernetes.status import Container, Pod, seconds
from engine.model.errors import ErrorKind, Failure

_HARMLESS = {"", "ContainerCreating", "PodInitializing", "CrashLoopBackOff"}
_IMAGE = {"ErrImagePull", "ImagePullBackOff"}


def pending(pod: Pod, primary: Container | None, now: float, options: PodOptions, architecture: str) -> State:
    limit = _limit(seconds(pod.metadata.creation_timestamp), options.pending_seconds)
    scheduled = pod.condition("PodScheduled")
    if pod.status.phase == "Running" and primary is None:
        return Pending("its container to be reported")
    if scheduled is not None and scheduled.status == "False":
        found: State = Pending(f"a node ({scheduled.reason}): {scheduled.message}", limit)
    else:
        found = _starting(pod, primary, now, options, architecture, limit)
    if isinstance(found, Pending) and limit is not None and now >= limit:
        message = f"pod {pod.name} did not begin in {options.pending_seconds:g} s: it waited for {found.why}"
        return Never(Failure("PodPendingTimeout", ErrorKind.USER, message), recoverable=True)
    return found


def _starting(
    pod: Pod, primary: Container | None, now: float, options: PodOptions, architecture: str, limit: float | None
) -> State:
    candidates = [*pod.status.init_container_statuses, *([primary] if primary else [])]
    stuck = next((it for it in candidates if it.state.waiting and it.state.waiting.reason not in _HARMLESS), None)
    if stuck is None or stuck.state.waiting is None:
        return Pending("its containers to start" if pod.spec.node_name else "a node", limit)
    reason = stuck.state.waiting.reason
    text = f"container {stuck.name} of pod {pod.name} can't start ({reason}): {stuck.state.waiting.message}"
    if reason in _IMAGE:
        text += f"; image {stuck.image}" + (f", architecture {architecture}" if architecture else "")
    code = f"{_not_ready(pod)}|{reason}"
    match reason:
        case "ErrImagePull" | "ImagePullBackOff":
            grace, kind, recoverable = options.image_grace_seconds, ErrorKind.USER, True
        case "CreateContainerError":
            grace, kind, recoverable = options.create_grace_seconds, ErrorKind.USER, False
        case "CreateContainerConfigError":
            grace, kind, recoverable = options.config_grace_seconds, ErrorKind.USER, False
        case "InvalidImageName":
            grace, kind, recoverable = 0.0, ErrorKind.USER, False
        case _:
            grace, kind, recoverable = 0.0, ErrorKind.SYSTEM, True
    until = _could_start(pod) + grace
    if grace and now < until:
        return Pending(text, until if limit is None else min(until, limit))
    waited = f"{text}; grace period of {grace:g} s exceeded" if grace else text
    return Never(Failure(code, kind, waited), recoverable)


def _could_start(pod: Pod) -> float:
    """Since when nothing but itself has held up the container that is stuck: the pod has a node, the init containers
    before it have ended."""
    scheduled = pod.condition("PodScheduled")
    times = [pod.metadata.creation_timestamp, scheduled.last_transition_time if scheduled else None]
    times += [it.state.terminated.finished_at for it in pod.status.init_container_statuses if it.state.terminated]
    return max(seconds(time) for time in times)


def _not_ready(pod: Pod) -> str:
    ready = pod.condition("ContainersReady") or pod.condition("Ready")
    return ready.reason if ready and ready.reason else "ContainersNotReady"


def _limit(since: float, seconds: float) -> float | None:
    return since + seconds if seconds else None
