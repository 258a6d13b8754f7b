"""The client: asks by events, and reads the history of what it has asked for."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from anyio import to_thread
from msgspec import UNSET

from engine.adapters.kafka import records
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.visitor import Visitor
from engine.client.following import Ended, Rejected, Submitted, ended, is_answer
from engine.gateway.names import random_name
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import AbortRequested, Incoming, NodeRetryRequested
from engine.model.ids import ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.requests import ExecutionRequested, SignalGiven
from engine.model.state import Fact
from engine.ports.blobstore import BlobStore
from engine.registry.entries import Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.running import runnable
from engine.wire import codec
from engine.wire.inputs import from_elsewhere, inputs_for
from engine.wire.natural import Json, natural_map
from engine.wire.package import Package, pack
from engine.wire.publicform import REQUEST_BYTES
from handlers.registry import default_handlers

INLINE_BYTES = 64 * 1024
"""Of inputs that travel in the event, where there is a store for larger ones."""
Asked = Submitted | ExecutionId


class Client:
    """Use `connect`. Whatever is asked is durable when the call returns; asking twice is the same as once."""

    def __init__(self, visitor: Visitor, store: BlobStore | None, place: tuple[str, str]) -> None:
        """`place`: default project and domain."""
        self._visitor, self.store, self._place = visitor, store, place

    def named(self, name: str) -> ExecutionId:
        """An execution in the client's project and domain."""
        return ExecutionId(*self._place, name)

    async def submit(
        self,
        entity: str,
        inputs: Mapping[str, object] | bytes | None = None,
        *,
        name: str = "",
        package: str = "",
        overwrite_cache: bool = False,
        overrides: Overrides = NONE,
    ) -> Submitted:
        """Ask for an execution of what is registered as `NAME` or `NAME:VERSION`, in the client's project and domain.

        inputs: natural JSON values by name, or a serialized flyteidl `LiteralMap`. name: of the execution, a DNS label;
        by default a random one. package: digest of a package in the store that holds the entity, registered or not.
        An engine answers: `wait` and `follow` raise Rejected where nothing comes of it. Raises BadInput for inputs that
        are too large to travel by themselves.
        """
        execution = ExecutionId(*self._place, name or random_name())
        asked = ExecutionRequested(
            execution,
            entity,
            package,
            inputs=inputs if isinstance(inputs, bytes) else dict(inputs or {}),
            overwrite_cache=overwrite_cache,
            overrides=overrides,
            request=secrets.token_hex(8),
        )
        return await self.request(asked)

    async def request(self, asked: ExecutionRequested) -> Submitted:
        """The same, with every field at hand. Inputs that are large go to the store, if there is one."""
        data = codec.pack_event(asked)
        if len(data) > INLINE_BYTES and asked.inputs and self.store is not None:
            data = codec.pack_event(await self._with_inputs_stored(asked, self.store))
        if len(data) > REQUEST_BYTES:
            raise BadInput(
                f"the request takes {len(data)} bytes, more than the {REQUEST_BYTES} that travel by themselves; a "
                "client with a store (store.uri) can hand in larger inputs; nothing was started"
            )
        position = (await self._visitor.ends(asked.execution, Topic.HISTORY))[Topic.HISTORY]
        await self._visitor.publish(asked.execution, data)
        return Submitted(asked.execution, asked.request, position)

    async def abort(self, execution: Asked, reason: str = "asked for by a client") -> None:
        """Stop an execution, and the child executions it has started."""
        await self._publish(AbortRequested(_id(execution), reason))

    async def signal(self, execution: Asked, signal_id: str, value: object) -> Submitted:
        """Answer the gates that wait for a value: a JSON value, or a serialized flyteidl `Literal`.

        An engine answers: `accepted` raises Rejected where no gate takes it.
        """
        return await self.give(SignalGiven(_id(execution), signal_id, value, request=secrets.token_hex(8)))

    async def approve(self, execution: Asked, signal_id: str, passes: bool = True) -> Submitted:
        """Answer an approval."""
        return await self.give(SignalGiven(_id(execution), signal_id, UNSET, passes, request=secrets.token_hex(8)))

    async def retry_node(self, execution: Asked, path: str, *, all_elements: bool = False) -> None:
        """Ask for one more attempt of a failed node while its execution still runs.

        Of a map the elements run that have not succeeded; `all_elements`: all of them.
        """
        await self._publish(NodeRetryRequested(_id(execution), path, all_elements))

    async def accepted(self, asked: Submitted) -> Fact:
        """The engine's answer, once it is there. Raises Rejected."""
        async with aclosing(self._facts(asked.execution, asked.position)) as facts:
            async for fact in facts:
                if is_answer(fact, asked.request):
                    return fact
        raise AssertionError("the history has no end")

    async def follow(self, asked: Asked) -> AsyncGenerator[Fact, None]:
        """The transitions of an execution to its end, as they are committed: of a Submitted from its request on.

        Of an ExecutionId all that is still kept, which may take a while. Raises Rejected.
        """
        position, request = (asked.position, asked.request) if isinstance(asked, Submitted) else (0, "")
        answered = not request
        async with aclosing(self._facts(_id(asked), position)) as facts:
            async for fact in facts:
                answers = not answered and is_answer(fact, request)
                answered = answered or answers
                # Before the answer, the name may be somebody else's. That it had ended before is all there will be.
                if (fact.sequence and answered) or (answers and ended(fact)):
                    yield fact
                    if ended(fact):
                        return

    async def wait(self, asked: Asked) -> Ended:
        """The end of an execution. Raises Rejected."""
        async with aclosing(self.follow(asked)) as facts:
            async for fact in facts:
                if found := ended(fact):
                    return found
        raise AssertionError("follow ends with an end")

    async def outputs(self, end: Ended) -> dict[str, Json]:
        """Natural JSON by name; empty where it has not SUCCEEDED. Raises BadInput where this client has no store."""
        if not end.outputs_uri:
            return {}
        data = await self._store_for("outputs").get(end.outputs_uri)
        return await to_thread.run_sync(natural_map, data, end.outputs_uri)

    async def upload(self, package: Package) -> str:
        """Keep a package in the store; its digest, to be given to `submit`."""
        store = self._store_for("packages")
        await store.put(store.uri(layout.package(package.digest)), pack(package), durable=True)
        return package.digest

    async def _with_inputs_stored(self, asked: ExecutionRequested, store: BlobStore) -> ExecutionRequested:
        """Raises BadInput where they do not fit, as an engine would say."""
        if isinstance(asked.inputs, bytes):
            data = asked.inputs
        else:
            registry, place = Registry(store), asked.execution
            if asked.package:
                return asked
            entry = await find(registry, asked.entity, place.project, place.domain, RUNNABLE)
            found = await runnable(registry, entry, default_handlers())
            data = await to_thread.run_sync(inputs_for, found.target, from_elsewhere(asked.inputs), "inputs.")
        uri = store.uri(layout.requested_inputs(hashlib.sha256(data).hexdigest()))
        await store.put(uri, data, durable=True)
        return ExecutionRequested(
            asked.execution,
            asked.entity,
            asked.package,
            inputs_uri=uri,
            overwrite_cache=asked.overwrite_cache,
            overrides=asked.overrides,
            request=asked.request,
        )

    async def give(self, given: SignalGiven) -> Submitted:
        """A signal with every field at hand."""
        position = (await self._visitor.ends(given.execution, Topic.HISTORY))[Topic.HISTORY]
        await self._publish(given)
        return Submitted(given.execution, given.request, position)

    async def _publish(self, event: Incoming) -> None:
        await self._visitor.publish(event.execution, codec.pack_event(event))

    async def _facts(self, execution: ExecutionId, position: int) -> AsyncGenerator[Fact, None]:
        async with aclosing(self._visitor.follow(execution, Topic.HISTORY, position)) as batches:
            async for batch in batches:
                for record in batch:
                    yield records.fact_in(record)

    def _store_for(self, what: str) -> BlobStore:
        if self.store is None:
            raise BadInput(
                f"this client has no store for {what}; connect it with the settings of the engines (store.uri)"
            )
        return self.store


def _id(asked: Asked) -> ExecutionId:
    return asked.execution if isinstance(asked, Submitted) else asked


__all__ = ["Client", "Rejected"]
