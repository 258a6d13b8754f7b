"""A client by the settings: Kafka as engines reach it, and their store, if there is a common one.

async with connect("broker:9092") as client:
    ended = await client.wait(await client.submit("flows.chain.wf:v1", {"n": 3}))
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from anyio import to_thread

from config.kafka import Kafka
from config.settings import Settings
from engine.adapters.kafka.visitor import Visitor
from engine.brokers import clients_of
from engine.client.following import Ended, Submitted
from engine.client.submitter import Client, Rejected
from engine.model.errors import BadInput
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from engine.model.state import Fact
from engine.ports.blobstore import BlobStore
from engine.stores import open_shared

__all__ = ["Client", "Ended", "ExecutionId", "Fact", "Overrides", "Rejected", "Submitted", "connect"]
"""All that a program needs to name."""


@asynccontextmanager
async def connect(where: str | Settings, store: BlobStore | None = None) -> AsyncIterator[Client]:
    """A client, until the block is left.

    where: brokers (`host:9092`, several with commas between them), or settings as engines have them. store: what
    the engines keep their values in; None: that of the settings, if it is one that many can reach (`store.uri`).
    Without a store, packages and large inputs can't be handed in, and outputs not be read. Raises BadInput,
    StoreFailed, LogFailed where Kafka can't be reached or refuses this client.
    """
    settings = _settings(where) if isinstance(where, str) else where
    if settings.kafka.bootstrap is None:
        raise BadInput("kafka.bootstrap: not set, expected HOST:PORT of a broker; nothing was started")
    clients = await to_thread.run_sync(clients_of, settings.kafka)
    async with AsyncExitStack() as stack:
        if store is None and settings.store.uri:
            store = await stack.enter_async_context(open_shared(settings))
        visitor = await stack.enter_async_context(Visitor.open(clients))
        yield Client(visitor, store, (settings.execution.project, settings.execution.domain))


def _settings(brokers: str) -> Settings:
    """Raises BadInput for what is no address of a broker."""
    try:
        return Settings(kafka=Kafka(bootstrap=brokers))
    except ValueError as error:
        raise BadInput(f"{brokers!r:.200}: expected HOST:PORT of brokers, several with commas between them") from error
