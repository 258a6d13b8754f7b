"""The literals of a map node's elements in input order, framed as the items of one list, in constant memory.

Nothing is parsed: an element's outputs.pb is looked through for the literal of one variable, whose bytes are copied.
One batch of elements is read while the batch before it is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import Struct

from engine.data.framing import CorruptMessage, Data, framed, framed_size, header
from engine.data.literals import ITEM, NONE, entries
from engine.data.stored import Reader, map_spans
from engine.data.together import together
from engine.machine.arrays import attempt_of, phase_of
from engine.machine.children import child_outputs
from engine.model import layout
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent, Transient
from engine.model.ids import AttemptKey
from engine.model.phases import SATISFIED
from engine.model.state import Elements
from engine.ports.blobstore import BlobStore

BATCH_BYTES = 2 * 1024 * 1024
BATCH_ELEMENTS = 1024
SMALLEST_HEAD = 16 * 1024
NO_VALUE = framed(ITEM, NONE)
"""What stands in the place of an element whose failure is tolerated."""


class Batch(Struct, frozen=True):
    pieces: Sequence[Data]
    """The next bytes of the list's payload, in pieces so that large ones are not copied to join them."""
    sizes: Sequence[int]
    """Framed bytes of each item that starts in them; the last one may go on in the next batch."""

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces))


Sink = Callable[[Batch], Awaitable[None]]


class Collected(Struct, frozen=True):
    """The elements of one map node whose outputs are to be gathered."""

    blobs: BlobStore
    key: AttemptKey
    """Of the map node."""
    elements: Elements
    children: bool = False
    """Each element was a child execution."""

    def placeholders(self) -> int:
        """How many elements have no outputs that count."""
        return sum(not self._counts(index) for index in range(self.elements.size))

    async def copy(self, variable: str, sink: Sink) -> None:
        """Hand the framed literals of one output variable to the sink, from the first element to the last.

        Raises Permanent (SYSTEM, OutputsNotFound) naming the element that lacks it; Transient.
        """
        send, receive = anyio.create_memory_object_stream[Batch](1)
        with send, receive:
            await together(lambda: self._read(variable, send), lambda: _hand_over(receive, sink))

    async def _read(self, variable: str, send: MemoryObjectSendStream[Batch]) -> None:
        head, count = self._plan()
        with send:
            for first in range(0, self.elements.size, count):
                indexes = range(first, min(first + count, self.elements.size))
                await self._read_batch(variable, indexes, head, send)

    def _plan(self) -> tuple[int, int]:
        """Bytes to read of each outputs.pb at first, and elements a batch: their product is bounded."""
        total = sum(self.elements.output_bytes.values())
        if total <= BATCH_BYTES // 2:
            return BATCH_BYTES, BATCH_ELEMENTS
        average = total // max(1, self.elements.succeeded)
        head = min(max(average * 5 // 4 + 1024, SMALLEST_HEAD), BATCH_BYTES // 2)
        return head, min(BATCH_BYTES // head, BATCH_ELEMENTS)

    async def _read_batch(self, variable: str, indexes: range, head: int, send: MemoryObjectSendStream[Batch]) -> None:
        uris = {index: self._uri(index) for index in indexes if self._counts(index)}
        heads = dict(zip(uris, await self.blobs.get_many(list(uris.values()), end=head), strict=True))
        parts: list[Data] = []
        sizes: list[int] = []
        for index in indexes:
            if index not in uris:
                parts.append(NO_VALUE)
                sizes.append(len(NO_VALUE))
                continue
            found = heads.pop(index)
            try:
                if found is None:
                    raise BlobNotFound(uris[index])
                if len(found) == head:
                    await send.send(Batch(parts, sizes))
                    parts, sizes = [], []
                    await self._send_large(variable, uris[index], found, send)
                    continue
                literal = entries(memoryview(found))[variable]
            except (BlobNotFound, CorruptMessage, KeyError) as problem:
                raise self._lacking(index, variable, uris[index], problem) from problem
            parts += (header(ITEM, len(literal)), literal)
            sizes.append(framed_size(len(literal)))
        await send.send(Batch(parts, sizes))

    async def _send_large(self, variable: str, uri: str, head: bytes, send: MemoryObjectSendStream[Batch]) -> None:
        """An element that does not fit into its share of a batch, piece by piece."""
        size = await self.blobs.size(uri)
        if size is None:
            raise BlobNotFound(uri)
        start, end = (await map_spans(Reader(self.blobs, uri, head), size))[variable]
        await send.send(Batch([header(ITEM, end - start)], [framed_size(end - start)]))
        while start < end:
            piece = head[start:end] or await self.blobs.get(uri, start, min(end, start + BATCH_BYTES // 2))
            if not piece:
                raise Transient(f"{uri} became shorter while it was read")
            await send.send(Batch([piece], []))
            start += len(piece)

    def _counts(self, index: int) -> bool:
        return phase_of(self.elements, index) in SATISFIED

    def _uri(self, index: int) -> str:
        key, attempt = self.key, attempt_of(self.elements, index)
        element = AttemptKey(key.execution, key.path, attempt, index, key.attempt, key.run)
        return self.blobs.uri(child_outputs(element) if self.children else layout.outputs(element))

    def _lacking(self, index: int, variable: str, uri: str, problem: Exception) -> Permanent:
        reason = "it is not there" if isinstance(problem, KeyError) else str(problem)
        message = f"element {index} of {self.elements.size} has no readable output {variable!r} in {uri}: {reason}"
        place = f"{self.key.path}[{index}]"
        return Permanent(Failure(code="OutputsNotFound", kind=ErrorKind.SYSTEM, message=message, node=place))


async def _hand_over(receive: MemoryObjectReceiveStream[Batch], sink: Sink) -> None:
    async for batch in receive:
        await sink(batch)
