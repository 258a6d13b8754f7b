"""What a handler's `perform` may use of the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.model.events import Event
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore
from engine.ports.cache import Cache
from engine.ports.clock import Clock
from engine.ports.taskrunner import TaskRunner


@dataclass(frozen=True, slots=True)
class Services:
    blobs: BlobStore
    runner: TaskRunner
    clock: Clock
    offload: OffloadLimits
    cache: Cache
    report: Callable[[Sequence[Event]], None]
    """Tell of something while the effect goes on (an attempt has started). It may be kept back for a few milliseconds,
    so that what follows at once travels with it."""
