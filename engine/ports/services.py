"""What a handler's `perform` may use of the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.model.events import AttemptStarted
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
    report: Callable[[AttemptStarted], None]
    """Tell that an attempt really runs. It may be kept back for some milliseconds, so that what follows at once travels
    with it."""
