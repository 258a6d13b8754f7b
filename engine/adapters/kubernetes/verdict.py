"""What the status of a pod says of the attempt that runs in it. Pure; section 8.5 of FlytePropeller's behaviour, but:

an eviction, a preemption and the shutdown of a node are never the task's fault; what a non-zero exit means does not
depend on when it was seen; a stuck init container uses up the grace time for images as well.
"""

from __future__ import annotations

from engine.adapters.kubernetes.carrying import OWN
from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.pending import pending
from engine.adapters.kubernetes.states import Ended, Runs, State
from engine.adapters.kubernetes.status import Pod, Terminated, seconds
from engine.model.architectures import not_built_for
from engine.model.placement import NOT_BUILT
from engine.ports.taskrunner import Exit, ExitReason

_INTERRUPTED = "Interrupted"
_TAKEN_AWAY = {
    "Evicted",
    "Preempting",
    "Preempted",
    "Shutdown",
    "Terminated",
    "NodeShutdown",
    "NodeLost",
    "NodeAffinity",
}
_CANNOT_START = {"StartError", "ContainerCannotRun"}
_KILLED = {137: 9, 247: 9, 143: 15}
_OTHER_FORMAT = "exec format error"


def state_of(pod: Pod, now: float, options: PodOptions, architecture: str = "") -> State:
    """`now`: Unix seconds. `architecture`: what the pod was made for, for messages; empty = any."""
    primary = pod.primary()
    done = primary.state.terminated if primary else None
    if done is not None and not done.exit_code and _stores(pod):
        return Runs(seconds(done.started_at))
    if done is not None or pod.over:
        return _ended(pod, done, architecture)
    if primary is not None and primary.state.running is not None:
        return Runs(seconds(primary.state.running.started_at))
    return pending(pod, primary, now, options, architecture)


def _ended(pod: Pod, done: Terminated | None, architecture: str) -> State:
    status = pod.status
    well = done is not None and done.exit_code == 0 and done.reason != "ContainerStatusUnknown"
    if (why := _taken_away(pod)) and not well:
        return Ended(_exit(ExitReason.LOST, 0, why, done, _INTERRUPTED))
    if status.reason == "DeadlineExceeded" and not well:
        return Ended(_exit(ExitReason.TIMED_OUT, 0, status.message or "its pod's deadline", done, status.reason))
    if done is None:
        return _without_task(pod, architecture)
    if well and (lost := _not_stored(pod)):
        return Ended(_exit(ExitReason.LOST, 0, lost, done))
    if done.reason == "ContainerStatusUnknown":
        return Ended(_exit(ExitReason.LOST, 0, f"nobody knows how its container ended: {done.message}", done))
    if done.reason in _CANNOT_START or _OTHER_FORMAT in done.message:
        return _refused(pod, done, architecture)
    if done.reason == "OOMKilled":
        return Ended(_exit(ExitReason.OOM_KILLED, done.exit_code, _told(pod, done), done))
    return Ended(_by_code(pod, done))


def _stores(pod: Pod) -> bool:
    """What a raw container has left is still being stored."""
    if not pod.metadata.annotations.uploads:
        return False
    statuses = pod.status.init_container_statuses
    running = any(it.name.startswith(OWN) and it.state.running is not None for it in statuses)
    return running or not pod.over


def _not_stored(pod: Pod) -> str:
    """Why what a raw container has left is not in the store; empty = it is, or there is nothing to be stored."""
    for container in pod.status.init_container_statuses:
        ended = container.state.terminated
        if container.name.startswith(OWN) and ended is not None and ended.exit_code:
            return f"{container.name}: {_told(pod, ended)}"
    return ""


def _by_code(pod: Pod, done: Terminated) -> Exit:
    signal = _KILLED.get(done.exit_code) or (done.exit_code - 128 if 128 < done.exit_code < 160 else 0)
    if signal:
        return _exit(ExitReason.SIGNALLED, signal, _told(pod, done), done)
    return _exit(ExitReason.EXITED, done.exit_code, _told(pod, done) if done.exit_code else "", done)


def _without_task(pod: Pod, architecture: str) -> State:
    """The pod is over, and its task's container has no end: it may never have begun."""
    for container in pod.status.init_container_statuses:
        failed = container.state.terminated
        if failed is not None and failed.exit_code:
            if container.name.startswith(OWN):
                return Ended(_exit(ExitReason.LOST, 0, f"{container.name}: {_told(pod, failed)}", failed))
            if failed.reason in _CANNOT_START or _OTHER_FORMAT in failed.message:
                return _refused(pod, failed, architecture, f"init container {container.name}: ")
            message = f"init container {container.name}: {_told(pod, failed)}"
            if failed.reason == "OOMKilled":
                return Ended(_exit(ExitReason.OOM_KILLED, failed.exit_code, message, failed))
            return Ended(_exit(ExitReason.EXITED, failed.exit_code, message, failed))
    if pod.status.phase == "Succeeded":
        return Ended(Exit(ExitReason.EXITED, 0))
    why = " ".join(filter(None, (pod.status.reason, pod.status.message))) or "its containers have no status"
    return Ended(Exit(ExitReason.LOST, 0, f"pod {pod.name} failed: {why}", condition=_INTERRUPTED))


def _taken_away(pod: Pod) -> str:
    """Why a pod was ended from outside; empty = it was not."""
    status = pod.status
    if (condition := pod.condition("DisruptionTarget")) and condition.status == "True":
        return f"pod {pod.name} was taken away ({condition.reason}): {condition.message or status.message}"
    if status.phase == "Failed" and status.reason in _TAKEN_AWAY:
        return f"pod {pod.name} was taken away ({status.reason}): {status.message}"
    if pod.leaving:
        return f"pod {pod.name} was deleted by somebody else"
    return ""


def _exit(reason: ExitReason, code: int, message: str, done: Terminated | None, condition: str = "") -> Exit:
    began, ended = (seconds(done.started_at), seconds(done.finished_at)) if done else (0.0, 0.0)
    return Exit(reason, code, message, began, ended, condition)


def _told(pod: Pod, done: Terminated) -> str:
    """The last lines of its log, where it left no message of its own (terminationMessagePolicy)."""
    last = f"; it said last:\n{done.message.strip()}" if done.message.strip() else ""
    reason = f", {done.reason}" if done.reason not in ("", "Error", "Completed") else ""
    return f"(pod {pod.name}{reason}){last}"


def _refused(pod: Pod, done: Terminated, architecture: str, where: str = "") -> Ended:
    """`where`: before the message."""
    if _OTHER_FORMAT not in done.message:
        message = f"{where}its container can't be started ({done.reason}): {done.message.strip()}"
        return Ended(_exit(ExitReason.REFUSED, done.exit_code, message, done))
    primary = pod.primary()
    image = not_built_for(primary.image if primary else "", architecture)
    message = f"{where}{image}: node {pod.spec.node_name} can't execute its program: {done.message.strip()}"
    return Ended(_exit(ExitReason.REFUSED, done.exit_code, message, done, NOT_BUILT))
