"""A raw container's values: files in the store before it runs, literals of files that it left after it has run.

What FlytePropeller's copilot does in side containers. The folders are put into the container by whoever runs it.
"""

from __future__ import annotations

from flyteidl.core import literals_pb2, types_pb2

from engine.data.container import Container, DataConfig, DataFormat
from engine.data.framing import Data
from engine.data.fromtext import literal_of
from engine.data.inputfiles import input_files
from engine.data.literals import literal_map
from engine.data.materialise import TooMuch, inlined
from engine.model import layout
from engine.model.errors import ErrorKind, Failure, Permanent, StoreRefused, shorten
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import ContainerRun, Mount

MOST_BYTES = 1024 * 1024
"""Of a file that tells a plain value; FlytePropeller's copilot reads 1 KiB."""
ERROR_FILE = "_ERROR"
"""Left among the outputs, its text is why the task failed."""


def _inputs_key(key: AttemptKey) -> str:
    return f"{layout.attempt_prefix(key)}/copilot"


def _outputs_key(key: AttemptKey) -> str:
    """Where raw data lies, since files and directories among the outputs stay there."""
    return f"{layout.raw_prefix(key)}/outputs"


async def provide(
    blobs: BlobStore, key: AttemptKey, task: TaskSpec, container: Container, inputs: Data, most: int
) -> ContainerRun:
    """Store the inputs (a serialized `LiteralMap`) as files, and say what the container is to find where.

    `most`: bytes of referenced values. Raises Permanent (USER) for values that can't be files; Transient.
    """
    config = container.data or DataConfig("", "", DataFormat.PROTO)
    source, target = _inputs_key(key), _outputs_key(key)
    await blobs.delete(blobs.uri(source))
    await blobs.delete(blobs.uri(target))
    mounts: list[Mount] = []
    if container.data is not None:
        try:
            made = input_files(await inlined(blobs, inputs, most), config)
            for path, data in made.files.items():
                await blobs.put(blobs.uri(f"{source}/{path}"), data)
        except (StoreRefused, TooMuch) as problem:
            message = f"the inputs of {task.id} can't be given to its container as files: {problem}"
            raise Permanent(Failure("FailedToBuildResource", ErrorKind.USER, message)) from problem
        mounts = [
            Mount(blobs.uri(source), config.input_path, writable=True),
            *made.mounts,
            Mount(blobs.uri(target), config.output_path, writable=True),
        ]
    return ContainerRun(container.image, tuple(mounts), replaces_entrypoint=bool(container.command))


async def collect(blobs: BlobStore, key: AttemptKey, task: TaskSpec) -> None:
    """Store what a container left, which has ended well, as outputs.pb.

    Raises Permanent (USER): the text of its error file, or every output that is missing or of another type; Transient.
    """
    folder = _Left(blobs, blobs.uri(_outputs_key(key)))
    try:
        error = await folder.text(ERROR_FILE)
    except (ValueError, StoreRefused) as problem:
        error = f"{ERROR_FILE} can't be read: {problem}"
    if error is not None:
        raise Permanent(Failure("Error", ErrorKind.USER, shorten(error)), recoverable=True)
    outputs: dict[str, bytes] = {}
    problems: list[str] = []
    for name, declared in task.interface.outputs.items():
        try:
            literal = await folder.output(name, types_pb2.LiteralType.FromString(declared))
            outputs[name] = literal.SerializeToString(deterministic=True)
        except (ValueError, StoreRefused) as problem:
            problems.append(f"output {name!r}: {problem}")
    if problems:
        message = f"{task.id} has ended, but not all of its outputs are there: {'; '.join(problems)}"
        raise Permanent(Failure("OutputsNotFound", ErrorKind.USER, message), recoverable=True)
    await blobs.put(blobs.uri(layout.outputs(key)), literal_map(outputs))


class _Left:
    """The folder of a container's outputs."""

    def __init__(self, blobs: BlobStore, uri: str) -> None:
        self._blobs, self._uri = blobs, uri

    async def output(self, name: str, declared: types_pb2.LiteralType) -> literals_pb2.Literal:
        """Raises ValueError with the reason, StoreRefused for a link and the like."""
        if declared.WhichOneof("type") == "blob":
            return await self._blob(name, declared)
        text = await self.text(await self._file(name))
        if text is None:
            raise ValueError(f"there is no file {name}")
        try:
            return literal_of(text, declared)
        except ValueError as problem:
            raise ValueError(f"expected {problem}, its file holds {text[:100]!r}") from None

    async def text(self, name: str) -> str | None:
        """A file, None where there is none."""
        uri = f"{self._uri}/{name}"
        size = await self._blobs.size(uri)
        if size is None:
            return None
        if size > MOST_BYTES:
            raise ValueError(f"its file has {size} bytes, at most {MOST_BYTES} may be")
        try:
            return (await self._blobs.get(uri)).decode()
        except UnicodeDecodeError:
            raise ValueError("its file is no UTF-8 text") from None

    async def _file(self, name: str) -> str:
        """The file of that name, or the only one with that name and an ending."""
        if await self._blobs.size(f"{self._uri}/{name}") is not None:
            return name
        start = f"{self._uri}/{name}."
        found = [uri[len(self._uri) + 1 :] async for uri in self._blobs.list(self._uri) if uri.startswith(start)]
        ending = [it for it in found if "/" not in it]
        return ending[0] if len(ending) == 1 else name

    async def _blob(self, name: str, declared: types_pb2.LiteralType) -> literals_pb2.Literal:
        many = declared.blob.dimensionality == types_pb2.BlobType.MULTIPART
        found = name if many else await self._file(name)
        uri = f"{self._uri}/{found}"
        if many and not [True async for _ in self._blobs.list(uri)]:
            raise ValueError(f"there is no directory {name} with a file in it")
        if not many and await self._blobs.size(uri) is None:
            raise ValueError(f"there is no file {name}")
        metadata = literals_pb2.BlobMetadata(type=declared.blob)
        # A plain path where the store is a folder: flytekit takes a file of a `file://` URI for missing.
        blob = literals_pb2.Blob(uri=uri.removeprefix("file://"), metadata=metadata)
        return literals_pb2.Literal(scalar=literals_pb2.Scalar(blob=blob))
