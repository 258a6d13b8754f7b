"""What a handler's `perform` may use of the world."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.events import AttemptStarted
from engine.model.ids import EntityId
from engine.model.limits import OffloadLimits
from engine.model.placement import NO_RULES, PlacementRules
from engine.ports.blobstore import BlobStore
from engine.ports.cache import Cache
from engine.ports.clock import Clock
from engine.ports.taskrunner import TaskRunner
from engine.ports.vetting import Vetting


async def nothing_registered(ids: Sequence[EntityId]) -> Mapping[EntityId, str]:
    """Where there is no registry."""
    return {}


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
    placement: PlacementRules = NO_RULES
    """What the operator says of architectures."""
    vetting: Sequence[Vetting] = ()
    """Each is asked before an attempt is started."""
    registered: Callable[[Sequence[EntityId]], Awaitable[Mapping[EntityId, str]]] = nothing_registered
    """Of the entities that are registered, the digests of the packages they came with."""
    code_here: bool = True
    """Tasks find their modules in their `code_root`; else in their image, or they fetch them."""
