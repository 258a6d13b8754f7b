"""What an attempt's folder says about its end: error.pb, futures.pb, outputs.pb. Values are not parsed."""

from __future__ import annotations

from flyteidl.core import dynamic_job_pb2, errors_pb2, execution_pb2
from google.protobuf.message import DecodeError

from engine.data.framing import CorruptMessage, Data, framed_size
from engine.data.literals import entries
from engine.data.recent import remember
from engine.data.references import OFFLOADED_SUFFIX, reference_of
from engine.data.stored import BLOCK, Reader, map_spans
from engine.machine.judge import ErrorDocument, Evidence
from engine.model.errors import StoreRefused
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import Exit

ERROR_LIMIT = 64 * 1024 * 1024
"""Bytes; a larger error.pb is no error that flytekit wrote, and is not read."""


async def read_evidence(blobs: BlobStore, prefix_uri: str, exit: Exit, declared: tuple[str, ...]) -> Evidence:
    """Everything the judge wants to know, in one read where the files are small. Raises Transient."""
    names = ("error.pb", "futures.pb", "outputs.pb")
    heads, problems = await _heads(blobs, [f"{prefix_uri}/{name}" for name in names])
    error, futures, outputs = heads
    document, error_problem = None, problems[0]
    if error is not None:
        document, error_problem = await _error(blobs, f"{prefix_uri}/error.pb", error)
    sizes, values, outputs_problem = None, dict[str, int](), problems[1] or problems[2]
    if outputs is not None:
        try:
            sizes, values = await output_sizes(blobs, f"{prefix_uri}/outputs.pb", outputs)
            if len(outputs) < BLOCK:
                remember(blobs, f"{prefix_uri}/outputs.pb", outputs)
        except CorruptMessage as problem:
            outputs_problem = str(problem)
    return Evidence(
        exit=exit,
        declared=declared,
        error=document,
        error_problem=error_problem,
        has_futures=futures is not None,
        outputs=sizes,
        outputs_problem=outputs_problem,
        values=values,
    )


def is_whole_plan(futures: bytes, declared: tuple[str, ...]) -> bool:
    """Whether a futures.pb was written to its end: the count of its nodes and the outputs stand behind the nodes."""
    try:
        plan = dynamic_job_pb2.DynamicJobSpec.FromString(futures)
    except DecodeError:
        return False
    return plan.min_successes == len(plan.nodes) and {output.var for output in plan.outputs} >= {*declared}


async def _heads(blobs: BlobStore, uris: list[str]) -> tuple[list[bytes | None], list[str]]:
    """The first block of each file, and why it can't be had: a task may put a link or a pipe in its place."""
    try:
        return await blobs.get_many(uris, end=BLOCK), [""] * len(uris)
    except StoreRefused as problem:
        if len(uris) == 1:
            return [None], [str(problem)]
    found = [await _heads(blobs, [uri]) for uri in uris]
    return [heads[0] for heads, _ in found], [problems[0] for _, problems in found]


async def _error(blobs: BlobStore, uri: str, head: bytes) -> tuple[ErrorDocument | None, str]:
    """`head` is the file, or its first block."""
    data = head
    if len(head) >= BLOCK:
        size = await blobs.size(uri) or 0
        if size > ERROR_LIMIT:
            return None, f"it has {size} bytes, at most {ERROR_LIMIT} are read"
        data = await blobs.get(uri)
    try:
        document = errors_pb2.ErrorDocument.FromString(data)
    except DecodeError as problem:
        return None, f"{len(data)} bytes that are no ErrorDocument ({problem})"
    if not document.HasField("error"):
        return None, f"{len(data)} bytes that hold no error"
    error = document.error
    found = ErrorDocument(
        code=error.code,
        message=error.message,
        recoverable=error.kind == errors_pb2.ContainerError.RECOVERABLE,
        system=error.origin == execution_pb2.ExecutionError.SYSTEM,
    )
    return found, ""


async def output_sizes(blobs: BlobStore, uri: str, head: bytes) -> tuple[dict[str, int], dict[str, int]]:
    """By output variable: framed bytes of its literal in a list, and bytes of the value. `head`: the first block."""
    if len(head) < BLOCK:
        literals = entries(head)
        sizes = {name: len(literal) for name, literal in literals.items()}
        # A value is hardly ever a reference, and then its file is named so.
        refer = OFFLOADED_SUFFIX.encode() in head
        values = {name: _stored(literals[name]) if refer else size for name, size in sizes.items()}
    else:
        size = await blobs.size(uri) or 0
        spans = await map_spans(Reader(blobs, uri, head), size)
        sizes = values = {name: end - start for name, (start, end) in spans.items()}
    return {name: framed_size(size) for name, size in sizes.items()}, values


def _stored(literal: Data) -> int:
    reference = reference_of(literal)
    return len(literal) if reference is None else reference.size_bytes
