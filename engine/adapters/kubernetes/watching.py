"""One pod, from when it is there to its end: it begins, it may take too long, it may be deleted by somebody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

import anyio

from engine.adapters.kubernetes.informer import Followed, T
from engine.adapters.kubernetes.pods import Objects, Tell
from engine.adapters.kubernetes.states import Ended, Never, Pending, Runs, State
from engine.model.errors import Permanent
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

DELETED = "UnexpectedObjectDeletion"
_RAN = {ExitReason.EXITED, ExitReason.SIGNALLED, ExitReason.OOM_KILLED, ExitReason.TIMED_OUT}


class Watching(Generic[T]):
    """`judge`: what the object of the attempt says. `now`: Unix seconds. `started` is called once, when the task really
    runs."""

    def __init__(
        self,
        objects: Objects[T],
        request: TaskRequest,
        judge: Callable[[T], State],
        now: Callable[[], float],
        started: Callable[[], None],
    ) -> None:
        self._pods, self._request, self._state, self._now = objects, request, judge, now
        self._started, self._begun = started, False
        self._late_at: float | None = None
        """Loop time at which its timeout is over."""

    async def end(self, seen: Followed[T], pod: T, tell: Tell) -> Exit:
        """Returns when nothing of it runs. Raises Permanent where it will never run; its pod is deleted then."""
        adopted = True
        while True:
            if seen.now is not None and seen.now.uid == pod.uid:
                pod = seen.now
            if seen.gone or (seen.now is not None and seen.now.uid != pod.uid):
                return self._lost(pod)
            state = self._state(pod)
            match state:
                case Ended():
                    return self._ended(state)
                case Never():
                    await self._pods.delete(pod, seen)
                    raise Permanent(state.failure, recoverable=state.recoverable)
                case Runs():
                    self._begin(state, adopted=adopted)
                    tell("")
                case Pending():
                    tell(f"its pod to start: {state.why}")
            adopted = False
            if await self._changed(seen, pod, state):
                continue
            await self._pods.delete(pod, seen)
            if not pod.leaving:
                return self._too_late(pod)

    def _begin(self, state: Runs, *, adopted: bool) -> None:
        if self._begun:
            return
        self._begun = True
        self._started()
        if self._request.timeout_seconds is not None:
            # A node's clock tells whole seconds, so it counts only where nobody has seen the begin.
            passed = max(0.0, self._now() - state.started_at) if adopted and state.started_at else 0.0
            self._late_at = anyio.current_time() + self._request.timeout_seconds - passed

    async def _changed(self, seen: Followed[T], pod: T, state: State) -> bool:
        """Wait for news. False: the pod has to be deleted now, for it is too late or does not go by itself."""
        if pod.leaving:
            if pod.held:
                await self._pods.let_go(pod)
            with anyio.move_on_after(self._pods.stop_seconds):
                await seen.change()
                return True
            return False
        pauses = [self._late_at - anyio.current_time()] if self._late_at is not None else []
        if isinstance(state, Pending) and state.until is not None:
            pauses.append(max(0.0, state.until - self._now()))
        with anyio.move_on_after(min(pauses, default=None)):
            await seen.change()
            return True
        return self._late_at is None or anyio.current_time() < self._late_at

    def _ended(self, state: Ended) -> Exit:
        if not self._begun and state.exit.reason in _RAN:
            self._begun = True
            self._started()
        return state.exit

    def _lost(self, last: T) -> Exit:
        """Its last state may tell how it ended; what nobody has seen, its files tell."""
        state = self._state(last)
        if isinstance(state, Ended):
            return self._ended(state)
        message = f"pod {self._pods.namespace}/{last.name} is gone: somebody else has deleted it, or its node is lost"
        return Exit(ExitReason.LOST, 0, message, condition=DELETED if last.leaving else "")

    def _too_late(self, pod: T) -> Exit:
        seconds = self._request.timeout_seconds
        return Exit(ExitReason.TIMED_OUT, 0, f"(pod {pod.name} was stopped after {seconds:g} s)")
