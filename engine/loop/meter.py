"""What an engine tells whoever measures it. Without one (None) the loop measures nothing and pays nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from engine.loop.residents import Residents
from engine.model.effects import Effect
from engine.model.state import Execution, Fact
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Record
from engine.ports.taskrunner import TaskRunner

Outcome = Literal["done", "failed", "retried", "stopped", "error"]
"""Of one try of an effect: it did what it was to do; it found a failure for its node; a passing trouble, it begins
anew; it was cancelled; the engine can't go on."""


class Meter(Protocol):
    """Called in the loop: must be quick, must not wait, must not raise."""

    def attend(self, residents: Residents) -> None:
        """An engine begins, with these executions in memory. Engines of other partitions may have begun before."""
        ...

    def leave(self, residents: Residents) -> None:
        """That engine has ended."""
        ...

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        """After each commit, while the finished executions are still in memory (engine.loop.watchers)."""
        ...

    def shown(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        """What some engine, here or elsewhere, has committed can be read in this process from now on."""
        ...

    def restored(self, executions: int, seconds: float) -> None:
        """What was left unfinished is taken up."""
        ...

    def took_over(self, seconds: float) -> None:
        """A partition was taken over from whoever had it before; so long after that began its engine goes on."""
        ...

    def turning(self) -> int:
        """A turn begins; gives its number."""
        ...

    def turned(
        self, turn: int, records: Sequence[Record], dead_letters: int, stale: int, commit_seconds: float
    ) -> None:
        """A turn is committed; so many of its records were dead letters, and so many stale."""
        ...

    def abandoned(self, turn: int) -> None:
        """An engine ends: its turn of this number, if it has not been committed, never will be."""
        ...

    def performed(self, effect: Effect, outcome: Outcome, seconds: float) -> None:
        """One try of an effect is over. That of a task lasts as long as the task."""
        ...

    def runner(self, runner: TaskRunner) -> TaskRunner:
        """The same runner, with its launches counted."""
        ...

    def watching(self, silence_seconds: Callable[[], float], objects: Callable[[], int]) -> None:
        """A runner watches what runs elsewhere: how long nothing was heard of it, and how much it holds."""
        ...

    def store(self, blobs: BlobStore) -> BlobStore:
        """The same store, with its calls measured."""
        ...
