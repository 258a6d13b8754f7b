"""Where a task's stderr lies is a help beside its error: whatever stands in its place, the error is still told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.memory.log import MemoryLog
from engine.cli.whereabouts import STDERR, stderr_of_failure
from engine.model import layout
from engine.model.errors import ErrorKind, Failure
from engine.model.graph import NodeKind
from engine.model.ids import EntityId, EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Node, Snapshot

WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "1")


def failed(path: str) -> Snapshot:
    error = Failure("X", ErrorKind.USER, "why", path)
    execution = Execution(ExecutionId("p", "d", "x"), WORKFLOW, WORKFLOW, "0", ExecutionPhase.FAILED, error=error)
    return Snapshot(execution, (Node(path, NodeKind.TASK, NodePhase.FAILED, error=error),))


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


@pytest.mark.parametrize("put", [link, Path.mkdir, lambda path: None], ids=["link", "folder", "nothing"])
async def test_something_else_in_its_place(files: FileBlobs, put: Callable[[Path], None]) -> None:
    snapshot = failed("n0")
    folder = Path(files.uri(layout.attempt_prefix(snapshot.execution.key("n0", 0))).removeprefix("file://"))
    make(folder)
    put(folder / STDERR)
    assert await stderr_of_failure(MemoryLog(), files, snapshot) == ""


async def test_nodes_nested_too_deep_for_a_name(files: FileBlobs) -> None:
    assert await stderr_of_failure(MemoryLog(), files, failed("/".join(["n0/0"] * 200 + ["n0"]))) == ""


async def test_what_is_there_is_named(files: FileBlobs) -> None:
    snapshot = failed("n0")
    uri = f"{files.uri(layout.attempt_prefix(snapshot.execution.key('n0', 0)))}/{STDERR}"
    await files.put(uri, b"words")
    assert await stderr_of_failure(MemoryLog(), files, snapshot) == uri.removeprefix("file://")


def make(folder: Path) -> None:
    folder.mkdir(parents=True)
