"""The real command in processes of its own, on a package that was made once for all tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.wire.packaging import package_file

WORKFLOWS = Path(__file__).parents[1] / "workflows"
LIMIT_SECONDS = 90


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class Propwash:
    """The command, with a home and a working folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.program = str(Path(sys.executable).with_name("propwash"))

    def __call__(self, *words: str, environ: Mapping[str, str] | None = None, stdout: str | None = None) -> Done:
        """Run it to its end. `stdout`: the file it writes to in place of `Done.out`."""
        with ExitStack() as stack:
            done = subprocess.run(
                [self.program, *words],
                cwd=self.folder,
                env=self.environ(environ),
                stdin=subprocess.DEVNULL,
                stdout=stack.enter_context(open(stdout, "w")) if stdout else subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
            )
        return Done(done.returncode, done.stdout or "", done.stderr)

    @contextmanager
    def started(self, *words: str, environ: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
        """The command while it runs; it is killed at the end of the block if it still does."""
        process = subprocess.Popen(
            [self.program, *words],
            cwd=self.folder,
            env=self.environ(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PROPWASH_")}
        return {**ours, "PROPWASH_HOME": str(self.home), **(more or {})}


@pytest.fixture
def propwash(tmp_path: Path) -> Propwash:
    return Propwash(tmp_path)


@pytest.fixture(scope="session")
def endings(tmp_path_factory: pytest.TempPathFactory) -> str:
    return package_of("endings.py", tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> str:
    return package_of("played.py", tmp_path_factory.mktemp("package"))


def package_of(file: str, folder: Path) -> str:
    """Workflows as a package, and where their code is: what `propwash run` gets in place of a file."""
    files = anyio.run(partial(package_file, WORKFLOWS / file))
    for name, data in files.files.items():
        (folder / name).write_bytes(data)
    shutil.copy(WORKFLOWS / file, folder)
    return str(folder)
