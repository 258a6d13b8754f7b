"""Finds out, before anything of an attempt is started, that it can't run where it was placed: as the world is now."""

from __future__ import annotations

from typing import Protocol

from engine.model.errors import Failure
from engine.ports.taskrunner import TaskRequest


class Vetting(Protocol):
    async def refuses(self, request: TaskRequest, *, resumed: bool) -> Failure | None:
        """Why the attempt can't run; None = nothing is known against it. The verdict is final.

        `resumed`: it may run already, started by an engine before this one, so that what passes is no reason. Must not
        take long, and what can't be found out is no reason either.
        """
        ...
