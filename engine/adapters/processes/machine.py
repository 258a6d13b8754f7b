"""Refuses tasks that are for another architecture than the machine's on which processes run."""

from __future__ import annotations

from dataclasses import dataclass

from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Failure
from engine.model.placement import UNAVAILABLE
from engine.ports.taskrunner import TaskRequest


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """A `Vetting` (engine.ports.vetting)."""

    own: Architecture | None
    """None: an architecture that no task can name."""

    async def refuses(self, request: TaskRequest, *, resumed: bool) -> Failure | None:
        wanted = request.placement.architecture
        if wanted is None or wanted is self.own:
            return None
        message = (
            f"{request.task.id} is for {wanted}, and tasks run here as processes of a machine that is "
            f"{self.own or 'something else'}; set processes.ignore_architecture to run it all the same; nothing was "
            "started"
        )
        return Failure(UNAVAILABLE, ErrorKind.USER, message)
