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


async def at_once() -> None:
    """Where every decision is committed before its effects begin."""


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
    decided: Callable[[], Awaitable[None]] = at_once
    """Wait until the decision for the effect at hand is committed. Before that it may read, and write what the attempt
    key names, in the store; it asks neither runner nor cache for anything that others would see."""
    placement: PlacementRules = NO_RULES
    """What the operator says of architectures."""
    vetting: Sequence[Vetting] = ()
    """Each is asked before an attempt is started."""
    registered: Callable[[Sequence[EntityId]], Awaitable[Mapping[EntityId, str]]] = nothing_registered
    """Of the entities that are registered, the digests of the packages they came with."""
    expands: bool = False
    """What runs tasks expands `$(NAME)` and `$$` in commands, as Kubernetes does."""
    code_here: bool = True
    """Tasks find their modules in their `code_root`; else in their image, or they fetch them."""
