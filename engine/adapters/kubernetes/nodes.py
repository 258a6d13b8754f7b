"""How many nodes of an architecture a cluster has ready, and attempts that are refused because there is none."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct, field

from engine.adapters.kubernetes.cluster import CallFailed, decoded
from engine.adapters.kubernetes.status import Condition, seconds
from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Failure
from engine.model.ids import ExecutionId
from engine.model.placement import UNAVAILABLE, NodePool, PlacementRules
from engine.ports.taskrunner import TaskRequest

log = logging.getLogger(__name__)

PATH = "/api/v1/nodes"
PAGE, FEW = 500, 20
"""Nodes of one answer: all are to be counted, or one is looked for."""
FLAP_SECONDS = 60.0
"""A node that has been ready up to now and is not for so long still counts: it mostly comes back."""
FOUND_SECONDS, MISSED_SECONDS = 30.0, 5.0
"""For so long an answer counts."""


class Reads(Protocol):
    """What is asked of a cluster (engine.adapters.kubernetes.cluster)."""

    async def get(self, path: str, params: Mapping[str, str] = {}) -> bytes:
        """Raises CallFailed."""
        ...


class _Status(Struct):
    conditions: list[Condition] = []


class _Node(Struct):
    status: _Status


class _Metadata(Struct):
    more: str = field(name="continue", default="")


class _Page(Struct):
    metadata: _Metadata
    items: list[_Node]


async def ready_nodes(cluster: Reads, pool: NodePool, now: float, *, enough: int | None = None) -> int:
    """How many nodes of a pool are ready, or were until a moment ago. `enough`: no more need be counted.

    `now`: Unix seconds. Raises CallFailed.
    """
    found, more = 0, ""
    while True:
        params = {"limit": str(PAGE if enough is None else FEW), "labelSelector": selector(pool.node_selector)}
        params |= {"continue": more} if more else {}
        page = decoded(await cluster.get(PATH, params), _Page)
        found += sum(_counts(node, now) for node in page.items)
        more = page.metadata.more
        if not more or (enough is not None and found >= enough):
            return found


def _counts(node: _Node, now: float) -> bool:
    ready = next((it for it in node.status.conditions if it.type == "Ready"), None)
    if ready is None:
        return False
    return ready.status == "True" or now - seconds(ready.last_transition_time) < FLAP_SECONDS


def selector(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


class ReadyNodes:
    """A `Vetting` (engine.ports.vetting). What a cluster can't or won't tell is no reason to refuse anything.

    `cluster_of`: where the pods of an execution are. `now`: Unix seconds.
    """

    def __init__(
        self,
        cluster_of: Callable[[ExecutionId], Reads],
        rules: PlacementRules,
        now: Callable[[], float],
    ) -> None:
        self._cluster_of, self._rules, self._now = cluster_of, rules, now
        self._known: dict[tuple[int, Architecture], tuple[float, bool]] = {}
        """Until when (loop time) it counts, and whether there is a node."""
        self._asking: defaultdict[tuple[int, Architecture], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def refuses(self, request: TaskRequest, *, resumed: bool) -> Failure | None:
        """See Vetting. Nodes come and go: a pod that may be there already is not given up for that."""
        wanted = request.placement.architecture
        pool = self._rules.architectures.get(wanted) if wanted else None
        if wanted is None or pool is None or pool.autoscaled or resumed:
            return None
        try:
            cluster = self._cluster_of(request.key.execution)
            if await self._there_is(cluster, wanted, pool):
                return None
        except CallFailed as problem:
            log.warning("the nodes of a cluster can't be listed", extra={"cause": str(problem)})
            return None
        setting = f"architectures.{wanted.value.replace('-', '_')}.autoscaled"
        message = (
            f"{request.task.id} is for {wanted}, and the cluster has no ready node for it "
            f"({selector(pool.node_selector)}), nor does an autoscaler make one ({setting} is false); "
            "nothing was started"
        )
        return Failure(UNAVAILABLE, ErrorKind.USER, message)

    async def _there_is(self, cluster: Reads, architecture: Architecture, pool: NodePool) -> bool:
        """Many who ask at once are one question."""
        key, clock = (id(cluster), architecture), asyncio.get_running_loop().time
        async with self._asking[key]:
            until, found = self._known.get(key, (0.0, False))
            if until <= clock():
                found = await ready_nodes(cluster, pool, self._now(), enough=1) > 0
                self._known[key] = clock() + (FOUND_SECONDS if found else MISSED_SECONDS), found
            return found
