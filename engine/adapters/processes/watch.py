"""One job from its begin to its end: it may end by itself, be too slow, be cancelled, or be lost with its zygote."""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio

from engine.adapters.processes import exits
from engine.adapters.processes.messages import Ended, Failed
from engine.adapters.processes.parent import Job, Parent
from engine.ports.taskrunner import Exit, TaskRequest


async def watch(
    parent: Parent, job: Job, request: TaskRequest, started: Callable[[], None], grace_seconds: float, path: str
) -> Exit:
    """Wait for the end of a job; call `started` when it begins. However this call ends, the job is over then.

    `path` is the PATH on which its program was looked for. Raises Transient: it could not be started now.
    """
    try:
        await job.decided.wait()
        if job.begun is not None:
            started()
        with anyio.move_on_after(request.timeout_seconds):
            await job.over.wait()
        if job.over.is_set():
            return _exit(parent, job, request, path)
        await parent.end(job, grace_seconds)
        ended = job.end if isinstance(job.end, Ended) else None
        assert request.timeout_seconds is not None
        return exits.of_timeout(ended, request.timeout_seconds, grace_seconds, _began(job), time.time())
    finally:
        if not job.over.is_set():
            with anyio.CancelScope(shield=True):
                await parent.end(job, grace_seconds)


def _exit(parent: Parent, job: Job, request: TaskRequest, path: str) -> Exit:
    match job.end:
        case Ended():
            return exits.of_end(job.end, _began(job))
        case Failed():
            return exits.of_failure(job.end, request.argv[0], path)
        case None:
            return exits.of_loss(parent.problem, _began(job), time.time())


def _began(job: Job) -> float:
    return job.begun.at if job.begun is not None else 0.0
