"""What the HTTP API is a door to: executions, and whoever takes what is asked for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.gateway.commands import WatchersLike
from engine.model.events import Event, ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Journal


class Service(Protocol):
    """An engine (engine.app.Engine), or several that share their log with other processes."""

    @property
    def journal(self) -> Journal:
        """What is read."""
        ...

    @property
    def delay_seconds(self) -> float | None:
        """What another process has committed can be read so long afterwards at the latest, mostly; 0 = there is none.

        None: the journal is being made, and must not be asked.
        """
        ...

    @property
    def watchers(self) -> WatchersLike:
        """Told of what is new in the journal, once it can be read there."""
        ...

    @property
    def blobs(self) -> BlobStore: ...

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None:
        """Start an execution, as `engine.app.Engine.accept` does; returns when that is durable."""
        ...

    async def send(self, events: Sequence[Event]) -> None:
        """Append events; returns when they are durable."""
        ...

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        """Answer gates, as `engine.app.Engine.signal` does; returns when that is durable."""
        ...

    def waits(self, execution: ExecutionId) -> Mapping[str, str]:
        """What queued tasks wait for, by path, of an execution that this process works on; else nothing."""
        ...
