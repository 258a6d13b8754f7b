"""What attempts wait for inside an engine before they begin: only the hands that make them wait know it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from engine.model.ids import ExecutionId


class Tells(Protocol):
    def waits(self, execution: ExecutionId) -> Mapping[str, str]:
        """Path of a task node -> what its attempt waits for here now, as what follows "waits for".

        Elements of maps are left out: their nodes count them.
        """
        ...


def told(tells: Iterable[Tells], execution: ExecutionId) -> dict[str, str]:
    """By all of them."""
    return {path: what for one in tells for path, what in one.waits(execution).items()}
