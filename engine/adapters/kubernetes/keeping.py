"""How long the pod of an attempt stays that nobody waits for any more."""

from __future__ import annotations

from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.status import Pod, Thing, seconds


def removable(thing: Thing, now: float, options: PodOptions) -> bool:
    """Of an attempt that is done: at once where it still runs, else when it has been kept for its time."""
    if thing.leaving:
        return False
    if not isinstance(thing, Pod):
        # Nobody but its operator knows whether it runs; one that has succeeded is gone already.
        return now >= seconds(thing.metadata.creation_timestamp) + options.keep_failed_seconds
    if not thing.over:
        return True
    kept = options.keep_succeeded_seconds if thing.status.phase == "Succeeded" else options.keep_failed_seconds
    return now >= ended_at(thing) + kept


def ended_at(pod: Pod) -> float:
    """Unix seconds; its creation, where nothing says when it ended."""
    ends = [it.state.terminated.finished_at for it in pod.status.container_statuses if it.state.terminated]
    return max(seconds(time) for time in (pod.metadata.creation_timestamp, *ends))
