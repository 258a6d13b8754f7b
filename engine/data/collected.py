"""The literals of a map node's elements in input order, framed as the items of one list, in constant memory.

Nothing is parsed: an element's outputs.pb is looked through for the literal of one variable, whose bytes are copied.
Large elements are appended by the store itself, where it can. Others are read, one batch while the batch before it is
written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import takewhile

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import Struct

from engine.data.framing import CorruptMessage, Data, framed, framed_size, header
from engine.data.literals import ITEM, NONE, entries, literal_span
from engine.data.stored import Reader, map_spans
from engine.data.together import together
from engine.machine.arrays import attempt_of, phase_of
from engine.machine.children import child_outputs
from engine.model import layout
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent, Transient
from engine.model.ids import AttemptKey
from engine.model.phases import SATISFIED
from engine.model.state import Elements
from engine.ports.blobstore import BlobStore, BlobWriter

BATCH_BYTES = 2 * 1024 * 1024
BATCH_ELEMENTS = 1024
SMALLEST_HEAD = 16 * 1024
UNREAD_BYTES = 24 * 1024 * 1024
"""What the store is asked to append at once, roughly."""
NO_VALUE = framed(ITEM, NONE)
"""What stands in the place of an element whose failure is tolerated."""


class Batch(Struct, frozen=True):
    pieces: Sequence[Data]
    """The next bytes of the list's payload, in pieces so that large ones are not copied to join them."""
    sizes: Sequence[int]
    """Framed bytes of each item that starts in them; the last one may go on in the next batch."""


Sink = Callable[[Batch], Awaitable[None]]
Note = Callable[[Sequence[int]], Awaitable[None]]
"""Is told the framed bytes of the next items."""


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

    async def append(self, variable: str, file: BlobWriter, note: Note) -> None:
        """Write the framed literals of one output variable to a file, from the first element to the last.

        Raises Permanent (SYSTEM, OutputsNotFound) naming the element that lacks it; Transient.
        """

        async def write(batch: Batch) -> None:
            for piece in batch.pieces:
                await file.write(piece)
            await note(batch.sizes)

        first = await self._append_unread(variable, file, note)
        if first < self.elements.size:
            await self.copy(variable, write, first)

    async def copy(self, variable: str, sink: Sink, first: int = 0) -> None:
        """Hand them to the sink, from one element on. Raises as `append`."""
        send, receive = anyio.create_memory_object_stream[Batch](1)
        with send, receive:
            await together(lambda: self._read(variable, first, send), lambda: _hand_over(receive, sink))

    async def _append_unread(self, variable: str, file: BlobWriter, note: Note) -> int:
        """Have the store append what it can without bringing it here; how many elements that were.

        Small ones are better read together.
        """
        average = self._average()
        if average < SMALLEST_HEAD:
            return 0
        part, most, index = partial(_item, variable), max(1, UNREAD_BYTES // average), 0
        while index < self.elements.size:
            if not self._counts(index):
                await file.write(NO_VALUE)
                sizes = [len(NO_VALUE)]
            else:
                following = range(index, min(index + most, self.elements.size))
                sizes = await file.append_from([self._uri(one) for one in takewhile(self._counts, following)], part)
            if not sizes:
                break
            await note(sizes)
            index += len(sizes)
        return index

    async def _read(self, variable: str, start: int, send: MemoryObjectSendStream[Batch]) -> None:
        head, count = self._plan()
        with send:
            for first in range(start, self.elements.size, count):
                indexes = range(first, min(first + count, self.elements.size))
                await self._read_batch(variable, indexes, head, send)

    def _plan(self) -> tuple[int, int]:
        """Bytes to read of each outputs.pb at first, and elements a batch: their product is bounded."""
        if sum(self.elements.output_bytes.values()) <= BATCH_BYTES // 2:
            return BATCH_BYTES, BATCH_ELEMENTS
        average = self._average()
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

    def _average(self) -> int:
        """Bytes of the outputs of an element."""
        return sum(self.elements.output_bytes.values()) // max(1, self.elements.succeeded)

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


def _item(variable: str, data: memoryview, size: int) -> tuple[bytes, int, int] | None:
    """A `Part`: the literal of a variable as the item of a list."""
    span = literal_span(data, size, variable)
    return (header(ITEM, span[1] - span[0]), *span) if span else None


async def _hand_over(receive: MemoryObjectReceiveStream[Batch], sink: Sink) -> None:
    async for batch in receive:
        await sink(batch)
