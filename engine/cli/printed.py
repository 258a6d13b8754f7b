"""`propwash logs`: what the task of a node printed, attempt by attempt, as the store keeps it, or a cluster."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.naming import named, some
from engine.cli.screen import say, say_bytes, tell
from engine.cli.unprinted import why_nothing
from engine.cli.unstored import Ask, Page, engine_prints
from engine.cli.wording import attempts_of_element
from engine.gateway.documents import Documents
from engine.homes import read_home
from engine.machine import arrays
from engine.machine.children import child_id
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, inner_frame, split
from engine.model.phases import NodePhase
from engine.model.state import Elements, Node, Snapshot
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Records

if TYPE_CHECKING:
    from config.settings import Settings

STDOUT = "stdout"
STREAMS = (STDOUT, "stderr")
CHUNK_BYTES = 1024 * 1024
_ELEMENT = re.compile(r"(?P<path>.+)\[(?P<index>\d+)\]\Z")
_HIDDEN = (NodeKind.START, NodeKind.END)


@dataclass(frozen=True, slots=True)
class Asked:
    execution: str
    node: str = ""
    """A path, or `n1[3]` for an element of a map; empty: the one that failed, else the only one."""
    index: int | None = None
    attempt: int | None = None
    """Counted from 1, as the views do; None: the last one."""
    streams: Sequence[str] = STREAMS


class Left(NamedTuple):
    """An attempt of which nothing is stored."""

    key: AttemptKey
    skipped: bytes
    """What is left out where stdout begins with it."""


def logs(asked: Asked, home: Path, settings: Settings | None) -> int:
    """Raises BadInput, which says what there is in its place; OutputRefused; LogFailed; EngineGone."""
    if settings is not None and settings.kafka.bootstrap is not None:
        from engine.cli import cluster_looks

        return anyio.run(cluster_looks.logs, asked, home, settings)
    return anyio.run(_logs, asked, home, settings)


async def _logs(asked: Asked, home: Path, settings: Settings | None) -> int:
    async with read_home(home, settings) as view:
        execution = (await named(asked.execution, view.names, home)).id
        documents = Documents(view.log, view.blobs, home)
        left = await print_stored(documents, await documents.snapshot(execution), asked)
        if left is not None:
            from_engine = partial(engine_prints, home, settings)
            await print_unstored(view.blobs, left, asked.streams, from_engine)
    return ExitCode.SUCCEEDED


async def print_stored(documents: Documents, snapshot: Snapshot, asked: Asked) -> Left | None:
    """What is stored of the attempt that is asked for, or why nothing ran; where there is neither, what to look for."""
    log, blobs = documents.log, documents.blobs
    key = await find_attempt(log, snapshot, asked)
    skipped = await _lines_of_flytekit(documents, snapshot, key)
    if await _print(blobs, key, asked.streams, skipped):
        return None
    if reason := await why_nothing(documents, snapshot, key, asked.streams):
        tell(reason)
        return None
    return Left(key, skipped)


async def print_unstored(blobs: BlobStore, left: Left, streams: Sequence[str], ask: Ask) -> None:
    """What a pod prints is stored at its end. `ask`: whoever can see it."""
    page, key = Page(left.skipped), left.key
    asked = STDOUT not in streams or await ask(key, page.take)
    if page.has_text or await _print(blobs, key, streams, left.skipped):  # it may have ended meanwhile
        return
    where = key.path if key.index is None else f"{key.path}[{key.index}]"
    alone = "" if asked else "; a pod's is read by the engine on a home, or with the settings of its cluster"
    tell(f"attempt {key.attempt + 1} of node {where} has printed nothing, or not yet: {' and '.join(streams)}{alone}")


async def _lines_of_flytekit(documents: Documents, snapshot: Snapshot, key: AttemptKey) -> bytes:
    """What stdout begins with that the author's task has not printed: flytekit's command for single tasks does."""
    try:
        state = await documents.state(snapshot)
        prefix, node_id = split(key.path)
        frame = state.frame(prefix)
        task = frame.program.task(frame.spec(node_id).target)
    except KeyError:
        return b""
    return b"" if task.raw_container or key.index is not None else b"\n"


async def find_attempt(log: Records, snapshot: Snapshot, asked: Asked) -> AttemptKey:
    """The attempt that a person means. Raises BadInput."""
    path, index = _place(asked if asked.node else replace(asked, node=_meant(snapshot, asked.index)))
    node = _node(snapshot, path)
    what = f"node {path} of execution {snapshot.execution.id.name}"
    match node.kind:
        case NodeKind.TASK if index is not None:
            raise BadInput(f"{what} is no map: it has no element {index}")
        case NodeKind.TASK:
            begun = 0 if node.phase is NodePhase.SKIPPED else node.attempt + 1
            return snapshot.execution.key(path, _attempt(asked, begun, f"{what}, which is {node.phase.name},"))
        case NodeKind.ARRAY:
            return _element(snapshot, node, index, asked, what)
        case NodeKind.LAUNCH_PLAN:
            key = snapshot.execution.key(path, node.attempt)
            raise BadInput(await _in_the_child(log, key, f"{what} is a launch plan"))
        case NodeKind.ARRAY_OF_LAUNCH_PLANS:
            key = _element(snapshot, node, index, asked, what)
            raise BadInput(await _in_the_child(log, key, f"element {key.index} of {what} is a launch plan"))
    inner = [one.path for one in _shown(snapshot) if one.path.startswith(f"{inner_frame(path, node.attempt)}/")]
    raise BadInput(f"{what} is a {node.kind.value}, which prints nothing itself; inside it are {some(inner) or 'none'}")


def _meant(snapshot: Snapshot, index: int | None) -> str:
    """Where nobody has named a node: the place of the failure, else the only task."""
    error, nodes = snapshot.execution.error, {node.path: node for node in _shown(snapshot)}
    if error is not None and error.node in nodes:
        elements = nodes[error.node].elements
        first = elements.first_error if elements is not None and index is None else None
        return first.node if first else error.node
    if len(nodes) == 1:
        return next(iter(nodes))
    there = some(list(nodes)) or "none yet"
    raise BadInput(f"which node of execution {snapshot.execution.id.name}? There are {there}")


def _place(asked: Asked) -> tuple[str, int | None]:
    found = _ELEMENT.match(asked.node)
    if found is None:
        return asked.node, asked.index
    index = int(found["index"])
    if asked.index not in (None, index):
        raise BadInput(f"{asked.node} and --index {asked.index} name two elements")
    return found["path"], index


def _node(snapshot: Snapshot, path: str) -> Node:
    nodes = {node.path: node for node in _shown(snapshot)}
    if path not in nodes:
        there = some(list(nodes)) or "none"
        raise BadInput(f"there is no node {path!r} yet in execution {snapshot.execution.id.name}; there are {there}")
    return nodes[path]


def _shown(snapshot: Snapshot) -> list[Node]:
    return [node for node in snapshot.nodes if node.kind not in _HIDDEN]


def _attempt(asked: Asked, begun: int, what: str) -> int:
    """Counted from 0. `begun`: attempts that there were."""
    if not begun:
        raise BadInput(f"{what} has had no attempt")
    wanted = begun if asked.attempt is None else asked.attempt
    if not 1 <= wanted <= begun:
        raise BadInput(f"{what} has had no attempt {wanted}; there {'is 1' if begun == 1 else f'are 1 to {begun}'}")
    return wanted - 1


def _element(snapshot: Snapshot, node: Node, index: int | None, asked: Asked, what: str) -> AttemptKey:
    elements = node.elements
    if elements is None or not elements.size:
        raise BadInput(f"{what} is a map {'of no elements' if elements else 'whose elements are not known yet'}")
    if index is None or index >= elements.size:
        known = f"{node.path}[0] to {node.path}[{elements.size - 1}]{_failures(elements)}"
        problem = "name one of its elements" if index is None else f"it has no element {index}"
        raise BadInput(f"{what} is a map: {problem}; there are {known}")
    kept = node.kept
    if kept is not None and asked.attempt is None and arrays.phase_of(kept, index) is NodePhase.SUCCEEDED:
        # It was taken over from the attempt of the map before this one.
        before = arrays.attempt_of(kept, index)
        return snapshot.execution.element_key(node.path, node.attempt - 1, index, before)
    begun = attempts_of_element(elements, index)
    return snapshot.execution.element_key(
        node.path, node.attempt, index, _attempt(asked, begun, f"element {index} of {what}")
    )


def _failures(elements: Elements) -> str:
    failed = arrays.spans(arrays.in_phase(elements, NodePhase.FAILED), most=10)
    return f", of which {failed} failed" if elements.failed else ""


async def _in_the_child(log: Records, key: AttemptKey, what: str) -> str:
    child = await log.snapshot(child_id(key))
    said = f"{what}, which prints nothing itself"
    if child is None:
        return f"{said}; it has started no child execution"
    inner = some([one.path for one in _shown(child)]) or "none"
    return f"{said}; see its child execution {child.execution.id.name}, with the nodes {inner}"


async def _print(blobs: BlobStore, key: AttemptKey, streams: Sequence[str], skipped: bytes) -> bool:
    """Copy the files to stdout, piece by piece; heads between them only for people. Whether there was anything.

    `skipped`: what is left out where stdout begins with it.
    """
    folder = blobs.uri(layout.attempt_prefix(key))
    titled, any_text = len(streams) > 1 and sys.stdout.isatty(), False
    for stream in streams:
        uri = f"{folder}/{stream}.log"
        size = await blobs.size(uri) or 0
        start = 0
        if size and stream == STDOUT and skipped:
            start = len(skipped) if await blobs.get(uri, 0, len(skipped)) == skipped else 0
        if start == size:
            continue
        any_text = True
        if titled:
            say(f"==> {stream} <==")
        if not await _copy(blobs, uri, start, size):
            break
    return any_text


async def _copy(blobs: BlobStore, uri: str, begin: int, size: int) -> bool:
    """Whether somebody still reads. A file that still grows is copied up to where it ended when we came."""
    last = b""
    for start in range(begin, size, CHUNK_BYTES):
        data = await blobs.get(uri, start, min(start + CHUNK_BYTES, size))
        if not data:
            break
        if not say_bytes(data):
            return False
        last = data[-1:]
    if last not in (b"", b"\n") and sys.stdout.isatty():
        say("")
    return True
