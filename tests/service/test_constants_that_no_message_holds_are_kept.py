"""Files and pickles as default values are written while packaging, and read when a task runs, perhaps days later."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from flyteidl.core.literals_pb2 import BindingData, LiteralMap

from engine.wire.compile import compile_package
from engine.wire.packaging import package_file
from engine.wire.registration import register
from tests.packages import plan_id, workflow_id

pytestmark = pytest.mark.service("flytekit")

SOURCE = """
from flytekit import task, workflow
from flytekit.types.file import FlyteFile

class Odd:
    pass

@task
def t(file: FlyteFile, odd: Odd) -> int:
    return 1

@workflow
def wf(file: FlyteFile = FlyteFile({here!r})) -> int:
    return t(file=file, odd=Odd())
"""


def content(uri: str) -> bytes:
    return Path(uri).read_bytes()


async def test_in_the_folder_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, constants, temporary = tmp_path / "wf.py", tmp_path / "constants", tmp_path / "tmp"
    path.write_text(SOURCE.format(here=str(path)))
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    files = await package_file(path, constants=constants)
    program = compile_package(register(files, project="p", domain="d", version="v1")).program
    default = LiteralMap.FromString(program.launch_plans[plan_id("wf.wf")].defaults).literals["file"]
    pickled = BindingData.FromString(program.workflows[workflow_id("wf.wf")].nodes["n0"].bindings[1].data)
    assert os.path.commonpath([default.scalar.blob.uri, pickled.scalar.blob.uri, constants]) == str(constants)
    assert content(default.scalar.blob.uri) == path.read_bytes()
    assert content(pickled.scalar.blob.uri) != b""


async def test_nothing_else_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "wf.py").write_text(SOURCE.format(here="").split("class Odd")[0] + "@workflow\ndef wf(): ...\n")
    await package_file(tmp_path / "wf.py")
    assert set(os.listdir(tmp_path)) - {"__pycache__"} == {"wf.py"}
