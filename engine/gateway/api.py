"""The JSON API: what the commands can do, over HTTP. It answers what `propwash get --json` and `list` answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from aiohttp import web
from anyio import to_thread
from msgspec import UNSET

from engine.gateway import asking
from engine.gateway.bodies import (
    Abort,
    Accepted,
    ExecutionDocument,
    Filter,
    Name,
    OfNode,
    Page,
    Recovery,
    Relaunch,
    SignalValue,
    Submission,
    Transition,
    Values,
)
from engine.gateway.document import summary
from engine.gateway.documents import Documents
from engine.gateway.durably import durably
from engine.gateway.guard import Refuse, answer
from engine.gateway.known import Known
from engine.gateway.names import random_name
from engine.gateway.operations import ONE, ROOT, Operation, read_body, read_query
from engine.gateway.pages import following, selection
from engine.gateway.service import Service
from engine.gateway.streams import Streams
from engine.model.events import AbortRequested, ExecutionSubmitted
from engine.model.ids import DNS_LABEL, ExecutionId
from engine.model.state import Execution
from engine.registry.entries import Registry
from engine.wire.inputs import from_elsewhere
from engine.wire.natural import natural_map
from handlers.registry import default_handlers

PATIENCE_SECONDS = 10.0


class Api:
    """`service` gives what is asked; it raises Refuse while there is none. `place`: default project and domain.

    `patience`: seconds that an answer waits for the log.
    """

    def __init__(
        self,
        service: Callable[[], Service],
        home: Path,
        place: tuple[str, str],
        largest: int,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._service, self._home, self._place, self._largest = service, home, place, largest
        self._patience = patience
        self._streams, self._known = Streams(service), Known(service)
        self._kinds = default_handlers().keys()

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", f"{ROOT}/executions", self.list_executions, Page, query=Filter),
            Operation("POST", f"{ROOT}/executions", self.submit, Accepted, body=Submission, status=201),
            Operation("GET", ONE, self.get_execution, ExecutionDocument),
            Operation("GET", f"{ONE}/inputs", self.get_inputs, Values, query=OfNode),
            Operation("GET", f"{ONE}/outputs", self.get_outputs, Values, query=OfNode),
            Operation("POST", f"{ONE}/abort", self.abort, Accepted, body=Abort, status=202),
            Operation("POST", ONE + "/signals/{signal}", self.signal, Accepted, body=SignalValue, status=202),
            Operation("POST", f"{ONE}/recover", self.recover, Accepted, body=Recovery, status=201),
            Operation("POST", f"{ONE}/relaunch", self.relaunch, Accepted, body=Relaunch, status=201),
            Operation("GET", f"{ONE}/events", self.follow, Transition, stream=True),
        ]

    async def list_executions(self, request: web.Request) -> web.Response:
        """List executions, the newest submission first, page by page."""
        asked = read_query(request, Filter)
        found = await self._service().journal.select(selection(asked, time.time()))
        page = [summary(record) for record in found[: asked.limit]]
        return answer({"executions": page, "next": following(found, asked.limit)})

    async def submit(self, request: web.Request) -> web.Response:
        """Start an execution; the answer comes once that is durable."""
        asked, service = await read_body(request, Submission), self._service()
        project, domain = asked.project or self._place[0], asked.domain or self._place[1]
        execution = ExecutionId(_label(project), _label(domain), _label(asked.name or random_name()))
        wish = asking.Wish(
            asked.entity, execution, from_elsewhere(asked.inputs), asked.overrides(), asked.overwrite_cache
        )
        registry = Registry(service.blobs)
        event, inputs = await asking.submission(registry, registry, wish, self._kinds, "inputs.")
        return await self._accept(event, inputs)

    async def get_execution(self, request: web.Request) -> web.Response:
        """One execution with the tree of its nodes, its outputs or its error."""
        record = await self._record(request)
        return answer(await self._documents().full_of(await self._known.snapshot(record)))

    async def get_inputs(self, request: web.Request) -> web.Response:
        """The inputs of an execution or of a node."""
        return await self._values(request, "inputs_uri")

    async def get_outputs(self, request: web.Request) -> web.Response:
        """The outputs of an execution or of a node that has succeeded."""
        return await self._values(request, "outputs_uri")

    async def abort(self, request: web.Request) -> web.Response:
        """Stop an execution; the answer comes once the request is durable."""
        asked, record = await read_body(request, Abort), await self._record(request)
        asking.refuse_abort(record)
        if not record.terminal:
            sent = self._service().send([AbortRequested(record.id, asked.reason)])
            await durably(self._patience, record.id, sent)
        return _accepted(record.id, 202)

    async def signal(self, request: web.Request) -> web.Response:
        """Answer the gates of one id."""
        asked, record = await read_body(request, SignalValue), await self._record(request)
        if (asked.value is UNSET) == (asked.approve is UNSET):
            raise Refuse(400, "BadInput", "body: expected either 'value' or 'approve'")
        documents, signal_id = self._documents(), request.match_info["signal"]
        state = await documents.state(await self._known.snapshot(record))
        literal = asking.signal_literal(state, signal_id, _answer(asked))
        await durably(self._patience, record.id, self._service().signal(record.id, signal_id, literal))
        return _accepted(record.id, 202)

    async def recover(self, request: web.Request) -> web.Response:
        """Start an execution that takes over what succeeded in this one, and runs the rest."""
        asked, record = await read_body(request, Recovery), await self._record(request)
        return await self._again(record, asking.once_more(record, _named(asked.name), recover=True))

    async def relaunch(self, request: web.Request) -> web.Response:
        """Start an execution of the same workflow with the same inputs."""
        asked, record = await read_body(request, Relaunch), await self._record(request)
        event = asking.once_more(record, _named(asked.name), recover=False, overwrite_cache=asked.overwrite_cache)
        return await self._again(record, event)

    async def follow(self, request: web.Request) -> web.StreamResponse:
        """What happens in an execution from its beginning, or after `Last-Event-ID`, to its end."""
        return await self._streams.send(request, (await self._record(request)).id)

    async def _again(self, record: Execution, event: ExecutionSubmitted) -> web.Response:
        inputs = await self._service().blobs.get(record.inputs_uri) if record.inputs_uri else b""
        return await self._accept(event, inputs)

    async def _accept(self, event: ExecutionSubmitted, inputs: bytes) -> web.Response:
        await durably(self._patience, event.execution, self._known.accept(event, inputs))
        return _accepted(event.execution, 201)

    async def _record(self, request: web.Request) -> Execution:
        """Raises Refuse."""
        place = request.match_info
        return await self._known.record(ExecutionId(place["project"], place["domain"], place["name"]))

    def _documents(self) -> Documents:
        service = self._service()

        async def ask(execution: ExecutionId) -> Mapping[str, str]:
            return service.waits(execution)

        return Documents(service.journal, service.blobs, self._home, ask)

    async def _values(self, request: web.Request, which: str) -> web.Response:
        path, record = read_query(request, OfNode).node, await self._record(request)
        holder: object = record
        if path:
            snapshot = await self._known.snapshot(record)
            holder = next((node for node in snapshot.nodes if node.path == path), None)
            if holder is None:
                raise Refuse(404, "NotFound", f"execution {record.id} has no node {path!r} that was started")
        uri: str = getattr(holder, which)
        return answer(Values(await self._read(uri) if uri else {}))

    async def _read(self, uri: str) -> dict[str, object]:
        blobs = self._service().blobs
        size = await blobs.size(uri)
        if size is not None and size > self._largest:
            cause = f"{uri} holds {size} bytes, more than http.max_body ({self._largest}); read it from the store"
            raise Refuse(413, "TooLarge", cause)
        return dict(await to_thread.run_sync(natural_map, await blobs.get(uri), uri))


def _answer(asked: SignalValue) -> object:
    if isinstance(asked.approve, bool):
        return asking.Approval(asked.approve)
    return from_elsewhere({"value": asked.value})["value"]


def _accepted(execution: ExecutionId, status: int) -> web.Response:
    name = Name(execution.project, execution.domain, execution.name)
    location = ONE.format(project=name.project, domain=name.domain, name=name.name)
    return answer(Accepted(name), status, {"Location": location})


def _label(text: str) -> str:
    if not DNS_LABEL.match(text):
        raise Refuse(400, "BadInput", f"{text!r} is no DNS label: 1 to 63 of a-z, 0-9 and '-', no dash at the ends")
    return text


def _named(name: str | None) -> str | None:
    return name and _label(name)
