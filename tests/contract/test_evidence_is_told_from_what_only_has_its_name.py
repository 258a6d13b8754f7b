"""Whatever a task puts in the place of its outcome is a verdict on that task, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from flyteidl.core import errors_pb2

from engine.adapters.files.blobs import FileBlobs
from engine.data import evidence
from engine.data.evidence import read_evidence
from engine.machine.judge import judge
from engine.ports.taskrunner import Exit, ExitReason

ENDED = Exit(ExitReason.EXITED)


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder_of(uri: str) -> Path:
    folder = Path(uri.removeprefix("file://"))
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("put", [link, pipe])
@pytest.mark.parametrize(
    ("name", "code"),
    [("error.pb", "ErrorFileBadFormat"), ("outputs.pb", "OutputsNotFound"), ("futures.pb", "OutputsNotFound")],
)
async def test_no_plain_file(files: FileBlobs, name: str, code: str, put: Callable[[Path], None]) -> None:
    uri = files.uri("n0/data/0")
    put(folder_of(uri) / name)
    failure = judge(await read_evidence(files, uri, ENDED, ("o0",))).failure
    assert failure is not None
    assert (failure.code, failure.kind.value) == (code, "SYSTEM")
    assert f"{uri}/{name} can't be read" in failure.message


async def test_a_link_does_not_hide_the_error_beside_it(files: FileBlobs) -> None:
    uri = files.uri("n0/data/0")
    document = errors_pb2.ErrorDocument(error=errors_pb2.ContainerError(code="MINE", message="why"))
    await files.put(f"{uri}/error.pb", document.SerializeToString())
    link(Path(f"{uri}/outputs.pb".removeprefix("file://")))
    failure = judge(await read_evidence(files, uri, ENDED, ("o0",))).failure
    assert failure is not None
    assert (failure.code, failure.message) == ("MINE", "why")


async def test_an_error_document_without_end_is_not_read(files: FileBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = files.uri("n0/data/0")
    await files.put(f"{uri}/error.pb", b"")
    os.truncate(f"{uri}/error.pb".removeprefix("file://"), 1 << 40)
    found = await read_evidence(files, uri, ENDED, ())
    assert found.error_problem == f"it has {1 << 40} bytes, at most {evidence.ERROR_LIMIT} are read"
