"""Values, folders and a scripted runner for tests of the data plane."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgpack
from flyteidl.core import errors_pb2, execution_pb2, literals_pb2, types_pb2
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import LoopClock
from engine.adapters.storecache import StoreCache
from engine.machine import arrays
from engine.model import layout
from engine.model.effects import GatherOutputs, Origin
from engine.model.errors import Transient
from engine.model.events import AttemptStarted
from engine.model.graph import ArraySpec, Binding, TaskSpec
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.limits import MIB, OffloadLimits
from engine.model.phases import NodePhase
from engine.model.state import Elements
from engine.ports.blobstore import BlobStore, BlobWriter, Part
from engine.ports.services import Services
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.programs import node, workflow_id

EXECUTION = ExecutionId("p", "d", "e1")
KEY = AttemptKey(EXECUTION, "n1")
ORIGIN = Origin(workflow_id("wf"), workflow_id("wf"), "digest")
ALWAYS = OffloadLimits(min_size=0)
NEVER = OffloadLimits(enabled=False)
SMALL = OffloadLimits(min_size=MIB, max_size=2 * MIB)

Literal = literals_pb2.Literal


def literal(value: object) -> Literal:
    """Plain Python as flytekit writes it: dicts as maps, None as a bare none."""
    if isinstance(value, Literal):
        return value
    if isinstance(value, list):
        return Literal(collection=literals_pb2.LiteralCollection(literals=[literal(item) for item in value]))
    if isinstance(value, dict):
        return Literal(map=literal_map(value))
    return Literal(scalar=scalar(value))


def scalar(value: object) -> literals_pb2.Scalar:
    match value:
        case None:
            return literals_pb2.Scalar(none_type=literals_pb2.Void())
        case bool():
            return literals_pb2.Scalar(primitive=literals_pb2.Primitive(boolean=value))
        case int():
            return literals_pb2.Scalar(primitive=literals_pb2.Primitive(integer=value))
        case float():
            return literals_pb2.Scalar(primitive=literals_pb2.Primitive(float_value=value))
        case str():
            return literals_pb2.Scalar(primitive=literals_pb2.Primitive(string_value=value))
    raise TypeError(value)


def packed(value: object) -> Literal:
    """A value as one msgpack Binary, as flytekit writes dataclasses and dicts."""
    return Literal(scalar=literals_pb2.Scalar(binary=literals_pb2.Binary(value=msgpack.packb(value), tag="msgpack")))


def union(value: object) -> Literal:
    kind = types_pb2.LiteralType(simple=types_pb2.INTEGER, structure=types_pb2.TypeStructure(tag="int"))
    return Literal(scalar=literals_pb2.Scalar(union=literals_pb2.Union(value=literal(value), type=kind)))


def reference(uri: str, size: int = 0, kind: types_pb2.LiteralType | None = None) -> Literal:
    return Literal(
        offloaded_metadata=literals_pb2.LiteralOffloadedMetadata(uri=uri, size_bytes=size, inferred_type=kind)
    )


def literal_map(values: Mapping[str, object]) -> literals_pb2.LiteralMap:
    return literals_pb2.LiteralMap(literals={name: literal(value) for name, value in values.items()})


def serialized(**values: object) -> bytes:
    """A `LiteralMap`, serialized."""
    return bytes(literal_map(values).SerializeToString(deterministic=True))


def serialized_literal(value: object) -> bytes:
    return bytes(literal(value).SerializeToString(deterministic=True))


def plain(found: Literal, blobs: MemoryBlobs | None = None) -> Any:
    """The Python value of a literal; a reference is followed in `blobs`."""
    match found.WhichOneof("value"):
        case "collection":
            return [plain(item, blobs) for item in found.collection.literals]
        case "map":
            return {key: plain(value, blobs) for key, value in found.map.literals.items()}
        case "offloaded_metadata":
            assert blobs is not None, "a reference"
            return plain(Literal.FromString(blobs.objects[found.offloaded_metadata.uri]), blobs)
    match found.scalar.WhichOneof("value"):
        case "union":
            return plain(found.scalar.union.value, blobs)
        case "binary":
            return msgpack.unpackb(found.scalar.binary.value, strict_map_key=False)
        case "none_type":
            return None
    return getattr(found.scalar.primitive, found.scalar.primitive.WhichOneof("value") or "")


def values_of(data: bytes, blobs: MemoryBlobs | None = None) -> dict[str, Any]:
    """The Python values of a serialized `LiteralMap`."""
    return {name: plain(value, blobs) for name, value in parsed(data).items()}


def parsed(data: bytes) -> dict[str, Literal]:
    return dict(literals_pb2.LiteralMap.FromString(data).literals)


def promise(variable: str, source: str, output: str = "o0", *path: str | int) -> Binding:
    steps = [
        types_pb2.PromiseAttribute(int_value=step)
        if isinstance(step, int)
        else types_pb2.PromiseAttribute(string_value=step)
        for step in path
    ]
    data = literals_pb2.BindingData(promise=types_pb2.OutputReference(node_id=source, var=output, attr_path=steps))
    return Binding(variable, data.SerializeToString())


async def put(blobs: BlobStore, name: str, data: bytes) -> str:
    uri = blobs.uri(name)
    await blobs.put(uri, data)
    return uri


async def finished_map(
    blobs: BlobStore, values: Sequence[object], variable: str = "o0", failed: Sequence[int] = ()
) -> Elements:
    """The elements of a map node at KEY, their outputs stored and measured as the judge does it."""
    elements = arrays.created(len(values))
    total = 0
    for index, value in enumerate(values):
        if index in failed:
            elements = arrays.with_element(elements, index, NodePhase.FAILED)
            continue
        item = literal(value)
        key = AttemptKey(EXECUTION, KEY.path, 0, index, KEY.attempt)
        await blobs.put(blobs.uri(layout.outputs(key)), serialized(**{variable: item}))
        elements = arrays.with_element(elements, index, NodePhase.SUCCEEDED)
        total += len(Literal(collection=literals_pb2.LiteralCollection(literals=[item])).collection.SerializeToString())
    return structs.replace(elements, output_bytes={variable: total})


def gathering(task: TaskSpec, elements: Elements, array: ArraySpec | None = None) -> GatherOutputs:
    return GatherOutputs(KEY, node("n1", task.id, array=array or ArraySpec()), task, elements)


class RecordingBlobs(MemoryBlobs):
    """Remembers what was read and written, and how large the pieces were; can fail its first reads."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.reads: list[tuple[str, int]] = []
        """URI and bytes given out."""
        self.largest_write = 0
        self.failures = failures

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        self._fail()
        found = await super().get(uri, start, end)
        self.reads.append((uri, len(found)))
        return found

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        self._fail()
        found = await super().get_many(uris, end)
        self.reads += [(uri, len(data or b"")) for uri, data in zip(uris, found, strict=True)]
        return found

    @asynccontextmanager
    async def writer(self, uri: str) -> AsyncIterator[BlobWriter]:
        async with super().writer(uri) as inner:
            yield _Watched(inner, self)

    def reads_of(self, uri: str) -> list[int]:
        return [size for name, size in self.reads if name == uri]

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Transient("the store is busy")


class _Watched:
    def __init__(self, inner: BlobWriter, blobs: RecordingBlobs) -> None:
        self.inner, self.blobs = inner, blobs

    async def write(self, chunk: bytes | memoryview) -> None:
        self.blobs.largest_write = max(self.blobs.largest_write, len(chunk))
        await self.inner.write(chunk)

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        return await self.inner.append_from(uris, part)


class ScriptedRunner:
    """A TaskRunner whose tasks are coroutines of the test."""

    outlives = False

    def __init__(self, script: Callable[[TaskRequest], Awaitable[Exit]], *, at_once: bool = False) -> None:
        self.script, self.at_once = script, at_once
        self.requests: list[TaskRequest] = []
        self.stopped: list[AttemptKey] = []

    async def refuses(self, task: TaskSpec) -> str:
        return ""

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        self.requests.append(request)
        started()
        if not self.at_once:
            await asyncio.sleep(1)
        return await self.script(request)

    async def stop(self, key: AttemptKey) -> None:
        self.stopped.append(key)


class World:
    """A memory store, a scripted runner, and the events that were reported."""

    def __init__(
        self,
        script: Callable[[TaskRequest], Awaitable[Exit]],
        *,
        blobs: MemoryBlobs | None = None,
        at_once: bool = False,
        limits: OffloadLimits | None = None,
    ) -> None:
        self.blobs = blobs or MemoryBlobs()
        self.runner = ScriptedRunner(script, at_once=at_once)
        self.reported: list[AttemptStarted] = []
        self.cache = StoreCache(self.blobs)
        self.services = Services(
            self.blobs, self.runner, LoopClock(), limits or OffloadLimits(), self.cache, self._report
        )

    def _report(self, started: AttemptStarted) -> None:
        self.reported.append(started)


def exited(code: int = 0) -> Exit:
    return Exit(ExitReason.EXITED, code)


def error_document(message: str = "boom", code: str = "USER:RuntimeError", *, recoverable: bool = False) -> bytes:
    kinds = errors_pb2.ContainerError
    error = errors_pb2.ContainerError(
        code=code,
        message=message,
        kind=kinds.RECOVERABLE if recoverable else kinds.NON_RECOVERABLE,
        origin=execution_pb2.ExecutionError.USER,
    )
    return bytes(errors_pb2.ErrorDocument(error=error).SerializeToString())
