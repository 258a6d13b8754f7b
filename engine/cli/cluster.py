"""Engines on Kafka as commands reach them: events go to the topic, and the topics tell what comes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from config.settings import Settings
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.visitor import Visitor
from engine.brokers import clients_of
from engine.cli.answers import Brokers
from engine.cli.mirror import Mirror
from engine.cli.watch import mirrored
from engine.client.following import Submitted
from engine.client.submitter import Client
from engine.client.trail import Trail
from engine.gateway.documents import Documents
from engine.model.errors import BadInput
from engine.model.ids import DNS_LABEL, ExecutionId
from engine.model.state import Execution
from engine.ports.blobstore import BlobStore
from engine.stores import STORE_FILE, STORE_FOLDER, look_at_store, open_shared

TICK_SECONDS = 1.0
"""Between two looks at child executions: what they do is told in other partitions than that of their parent."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is seen of the engines; `log` and `blobs` serve to look at executions."""

    visitor: Visitor
    client: Client
    log: Trail
    blobs: BlobStore
    home: Path
    brokers: Brokers
    place: tuple[str, str]
    """Project and domain of what is asked for."""
    knows_values: bool
    """There is a store to look into: that of the engines, or that of a home of this machine."""

    def named(self, name: str) -> ExecutionId:
        """NAME, or project:domain:name. Raises BadInput for what no execution can be called."""
        parts = tuple(name.split(":")) if name.count(":") == 2 else (*self.place, name)
        if not all(map(DNS_LABEL.match, parts)):
            raise BadInput(f"{name!r} is no name of an execution, expected NAME or PROJECT:DOMAIN:NAME")
        return ExecutionId(*parts)

    async def record(self, execution: ExecutionId) -> Execution:
        """Raises BadInput where no engine knows it, or by now nobody."""
        snapshot = await self.log.snapshot(execution)
        if snapshot is None:
            raise BadInput(
                f"there is no execution {execution} on Kafka; those that have ended are known for "
                "kafka.keep_finished_seconds"
            )
        return snapshot.execution

    async def from_now_on(self, execution: ExecutionId) -> Submitted:
        """Something to follow, beside which nothing was asked."""
        return Submitted(execution, "", (await self.visitor.ends(execution, Topic.HISTORY))[Topic.HISTORY])

    async def to_the_end(self, asked: Submitted, *, quiet: bool) -> None:
        """Show an execution until it has ended. Raises Rejected."""
        mirror = Mirror(self.log, Documents(self.log, self.blobs, self.home))
        await mirror.look(asked.execution)
        showing = mirrored(mirror, self.brokers, asked.execution, quiet=quiet)
        async with showing as moved, anyio.create_task_group() as group:

            async def tick() -> None:
                while True:
                    await anyio.sleep(TICK_SECONDS)
                    moved()

            group.start_soon(tick)
            async with aclosing(self.client.follow(asked)) as facts:
                async for _ in facts:
                    moved()
            # The fact that it has ended may be shown a moment before its states are.
            await self.log.ended(asked.execution)
            group.cancel_scope.cancel()


@asynccontextmanager
async def reach_cluster(
    home: Path, settings: Settings, project: str | None = None, domain: str | None = None
) -> AsyncIterator[Cluster]:
    """Raises BadInput, LogFailed, StoreFailed."""
    place = project or settings.execution.project, domain or settings.execution.domain
    clients = await to_thread.run_sync(clients_of, settings.kafka)
    async with AsyncExitStack() as stack:
        blobs = await stack.enter_async_context(store_of(home, settings))
        visitor = await stack.enter_async_context(Visitor.open(clients))
        client = Client(visitor, blobs if settings.store.uri else None, place)
        knows = await knows_values(home, settings)
        brokers = Brokers(settings.kafka.bootstrap)
        yield Cluster(visitor, client, Trail(visitor), blobs, home, brokers, place, knows)


@asynccontextmanager
async def store_of(home: Path, settings: Settings) -> AsyncIterator[BlobStore]:
    """What the engines keep their values in, as far as this machine can tell. Raises BadInput, StoreFailed."""
    async with open_shared(settings) if settings.store.uri else look_at_store(home, settings) as blobs:
        yield blobs


async def knows_values(home: Path, settings: Settings) -> bool:
    """Whether it can: by the setting store.uri, or because the home is one that they share."""
    places = (anyio.Path(home / name) for name in (STORE_FOLDER, STORE_FILE))
    return bool(settings.store.uri) or any([await place.exists() for place in places])


async def need_values(home: Path, settings: Settings, what: str) -> None:
    """Raises BadInput where there is no store to look into."""
    if not await knows_values(home, settings):
        raise BadInput(
            f"{what} are in the store of the engines, and nothing says where that is: expected the setting store.uri, "
            f"or a --home that shares it ({home} does not)"
        )
