"""The error of an author's file is the author's own, with its place; nothing hangs and nothing is left running."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from engine.model.errors import BadInput
from engine.wire.package import PackageFiles
from engine.wire.packaging import package_file, read_workflows
from engine.wire.registration import register

pytestmark = pytest.mark.service("flytekit")

SOUND = """
from flytekit import task, workflow

@task
def t(n: int) -> int:
    return n

@workflow
def wf(n: int) -> int:
    return t(n=n)
"""


@pytest.fixture(autouse=True)
def _no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


async def error(path: Path, *, python: str = sys.executable, timeout_seconds: float = 60.0) -> str:
    with pytest.raises(BadInput) as caught:
        await package_file(path, python=python, timeout_seconds=timeout_seconds)
    return str(caught.value)


CASES = {
    "text": (b"This is no Python.\n", "wf.py, line 1 is no Python: invalid syntax\n    This is no Python."),
    "binary": (b"\x7fELF\0\0\0\xff", "wf.py is no Python: "),
    "syntax error": (b"x = 1\ndef broken(:\n    pass\n", "wf.py, line 2 is no Python: "),
    "missing module": (
        b"import flytekit\nimport no_such_module\n",
        "can't be packaged: ModuleNotFoundError: No module named 'no_such_module'\n  File \"{path}\", line 2",
    ),
    "missing name": (
        b"from helpful import no_such_name\n",
        "ImportError: cannot import name 'no_such_name' from 'helpful'",
    ),
    "error in another module": (
        b"import failing\n",
        'ZeroDivisionError: division by zero\n  File "{path}", line 1, in <module>\n    import failing\n'
        '  File "{folder}/failing.py", line 2',
    ),
    "a call with a wrong argument": (
        SOUND.replace("t(n=n)", "t(m=n)").encode(),
        "AssertionError: Received unexpected keyword argument 'm' in function 'wf.t'\n  File \"{path}\", line 10",
    ),
    "exit": (b"import sys\nsys.exit(0)\n", 'it called sys.exit(0) while it was imported\n  File "{path}", line 2'),
    "hard exit": (
        b"import os, sys\nprint('last words', flush=True)\nos._exit(7)\n",
        "Python ended with exit status 7 while importing it. It printed:\n",
    ),
    "killed": (
        b"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "Python ended by signal 9 while importing it",
    ),
    "no workflow": (SOUND.split("@workflow")[0].encode(), "wf.py defines no workflow, only the tasks wf.t"),
    "nothing": (b"", "wf.py defines no workflow"),
}


@pytest.mark.parametrize("name", CASES)
async def test_the_reason_and_its_place(tmp_path: Path, name: str) -> None:
    source, expected = CASES[name]
    path = tmp_path / "wf.py"
    path.write_bytes(source)
    (tmp_path / "helpful.py").write_text("NAME = 1\n")
    (tmp_path / "failing.py").write_text("x = 0\ny = 1 / x\n")
    assert expected.format(path=path, folder=tmp_path) in await error(path)


async def test_what_flytekit_itself_refuses_shows_none_of_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "wf.py"
    half = "def wf(n: list[int]) -> list[int]:\n    return map_task(t, min_success_ratio=0.5)(n=n)\n"
    path.write_text(SOUND.replace("import task", "import map_task, task").partition("def wf")[0] + half)
    text = await error(path)
    assert "Failed to bind output o0 for function wf.wf" in text
    assert "File" not in text


async def test_no_such_file(tmp_path: Path) -> None:
    assert await error(tmp_path / "none.py") == f"there is no file {tmp_path / 'none.py'}"


@pytest.mark.parametrize("name", ["json.py", "flytekit.py", "types.py"])
async def test_a_file_named_like_a_module_that_flytekit_needs(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SOUND)
    assert f"the module name {name[:-3]!r} already belongs to" in await error(tmp_path / name)


async def test_a_neighbour_named_like_a_module_that_flytekit_needs(tmp_path: Path) -> None:
    (tmp_path / "wf.py").write_text(SOUND)
    (tmp_path / "colorsys.py").write_text("rgb_to_hls = rgb_to_hsv = hls_to_rgb = hsv_to_rgb = rgb_to_yiq = len\n")
    assert (await package_file(tmp_path / "wf.py")).module == "wf", "it has what is asked of it"
    (tmp_path / "types.py").write_text("NAME = 1\n")
    text = await error(tmp_path / "wf.py")
    assert f"colorsys.py, types.py in {tmp_path} have names of modules that flytekit or Python needs; rename: " in text


async def test_a_file_name_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "wf.v2.py").write_text(SOUND)
    assert "a module's file name can't hold a dot before .py; rename the file" in await error(tmp_path / "wf.v2.py")


async def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "wf.py").write_text(SOUND)
    text = await error(tmp_path / "wf.py", python="/nonexistent/python")
    assert text.startswith("/nonexistent/python can't be started as a Python interpreter: ")


async def test_an_interpreter_without_flytekit(tmp_path: Path) -> None:
    (tmp_path / "wf.py").write_text(SOUND)
    bare = tmp_path / "bare-python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    text = await error(tmp_path / "wf.py", python=str(bare))
    assert "flytekit can't be imported by" in text
    assert "install it there, or name another interpreter" in text


async def test_an_import_that_never_ends_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "wf.py").write_text("while True: pass\n")
    text = await error(tmp_path / "wf.py", timeout_seconds=0.2)
    assert text == f"{tmp_path / 'wf.py'} was still being imported after 0.2 seconds; it was stopped"


def ends(pid: int) -> bool:
    """It ends within seconds, or has ended; that nobody has waited for it yet does not count."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 5.0)[0])
    finally:
        os.close(handle)


async def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    """The module says its process id through a pipe, then never ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "wf.py").write_text(f"import os\nopen({str(pipe)!r}, 'w').write(str(os.getpid()))\nwhile True: pass\n")
    async with anyio.create_task_group() as group:
        group.start_soon(package_file, tmp_path / "wf.py")
        pid = int(await to_thread.run_sync(pipe.read_text))
        group.cancel_scope.cancel()
    assert ends(pid)


async def test_a_process_that_the_module_leaves_behind_is_ended(tmp_path: Path) -> None:
    """It holds the output open, ignores hang-ups, and would live for an hour."""
    source = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
open("{pid}", "w").write(str(child.pid))
"""
    (tmp_path / "wf.py").write_text(source.format(pid=tmp_path / "pid") + SOUND)
    await package_file(tmp_path / "wf.py")
    assert ends(int((tmp_path / "pid").read_text()))


async def test_threads_and_prints_of_the_module_do_no_harm(tmp_path: Path) -> None:
    noisy = """
import os, sys, threading
threading.Thread(target=threading.Event().wait).start()
print("hello")
os.system("echo from a child")
sys.stdout.write("x" * 1_000_000)
"""
    (tmp_path / "wf.py").write_text(noisy + SOUND)
    assert len((await package_file(tmp_path / "wf.py")).files) == 3


async def test_authors_may_name_their_modules_like_the_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("engine", "handlers", "config"):
        (tmp_path / "lib" / name).mkdir(parents=True)
        (tmp_path / "lib" / name / "__init__.py").write_text("MINE = 1\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "casting.py").write_text("MINE = 2\n")
    source = "import engine, handlers, config, casting\nassert engine.MINE + config.MINE + casting.MINE == 4\n"
    (tmp_path / "code" / "registration.py").write_text(source + SOUND)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    files = await package_file(tmp_path / "code" / "registration.py")
    assert names(files) == {"registration.wf"}


async def test_images_are_named_but_never_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = 'ImageSpec(name="mine", registry="localhost:1", packages=["numpy"])'
    source = SOUND.replace("import task", "import ImageSpec, task").replace("@task", f"@task(container_image={image})")
    (tmp_path / "wf.py").write_text(source)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert names(await package_file(tmp_path / "wf.py")) == {"wf.wf"}


async def test_anything_else_is_read_as_a_package(tmp_path: Path) -> None:
    (tmp_path / "wf.txt").write_text(SOUND)
    with pytest.raises(
        BadInput, match=r"expected a \.py file, a \.tgz of `pyflyte package`, or a folder of \.pb files"
    ):
        await read_workflows(tmp_path / "wf.txt")


def names(files: PackageFiles) -> set[str]:
    from engine.wire.compile import compile_package

    return {id.name for id in compile_package(register(files, project="p", domain="d")).program.workflows}
