"""Power loss: under strace, every byte and every name that a submission needs is synced before its acknowledgement."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.service.command import LIMIT_SECONDS
from tests.service.crashes import CRASHING, ROOT, packaged

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("strace")]

CALLS = "openat,write,pwrite64,rename,mkdir,fsync,fdatasync,unlink"
_FILE = re.compile(r"(?P<call>write|pwrite64|fsync|fdatasync)\(\d+<(?P<path>[^>]+)>")
_NAME = re.compile(r'(?P<call>mkdir|unlink)\("(?P<path>[^"]+)"')
_MADE = re.compile(r'(?P<call>openat)\([^"]+"(?P<path>[^"]+)", [A-Z_|]*O_CREAT')
_RENAME = re.compile(r'(?P<call>rename)\("(?P<source>[^"]+)", "(?P<path>[^"]+)"\)')


class Call(NamedTuple):
    call: str
    path: str
    source: str = ""


def traced(folder: Path) -> list[Call]:
    """The calls of an engine from its start to the acknowledgement of one submission, on a home that it makes."""
    package, trace = packaged(CRASHING, folder), folder / "trace"
    words = [sys.executable, "-m", "tests.service.submitter", str(folder / "new" / "home"), str(package)]
    strace = ["strace", "-f", "-y", "-s0", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
    subprocess.run([*strace, *words, str(folder / "acknowledged")], cwd=ROOT, check=True, timeout=LIMIT_SECONDS)
    calls = list(_parsed(trace.read_text().splitlines()))
    (last,) = [number for number, call in enumerate(calls) if call == Call("write", f"{folder}/acknowledged")]
    return [call for call in calls[:last] if call.path.startswith(str(folder))]


def _parsed(lines: Sequence[str]) -> Iterator[Call]:
    for line in lines:
        # A call that was interrupted by one of another thread is told in two lines; its arguments stand in the first.
        found = _FILE.search(line) or _NAME.search(line) or _MADE.search(line) or _RENAME.search(line)
        if found and not re.search(r"= -1 E", line):
            named = found.groupdict()
            yield Call(named["call"], named["path"], named.get("source", ""))


def unsynced(calls: Sequence[Call]) -> set[str]:
    """Files whose bytes, or whose names, a loss of power after these calls could lose."""
    contents: set[str] = set()
    names: set[str] = set()
    for call in calls:
        if call.call in ("fsync", "fdatasync"):
            contents.discard(call.path)
            names = {name for name in names if str(Path(name).parent) != call.path}
        elif call.call in ("write", "pwrite64"):
            contents.add(call.path)
        elif call.call == "unlink":
            contents.discard(call.path)
            names.discard(call.path)
        else:
            names.add(call.path)
            names.discard(call.source)
            if call.source in contents:
                contents.add(call.path)
    return contents | names


TRANSIENT = ("/lock", "/running", "/made-at", "/log.db-shm", "/log.db-journal")
"""Made anew by each engine; and so is the folder where objects are put together."""


PREPARED = "/p-d-e1/n0"
"""What the first turn prepares while it is being committed is none of the submission, and is made again if need be."""


def test_package_inputs_and_log_are_synced(tmp_path: Path) -> None:
    calls = [call for call in traced(tmp_path) if PREPARED not in call.path]
    home = tmp_path / "new" / "home"
    wal = f"{home}/log.db-wal"
    renamed = {call.path.removeprefix(f"{home}/store/") for call in calls if call.call == "rename"}
    (package,) = [path for path in renamed if path.startswith("metadata/packages/")]
    inputs = "metadata/propeller/p-d-e1/start-node/data/0/outputs.pb"
    assert renamed == {package, inputs}

    left = {path for path in unsynced(calls) if not path.endswith(TRANSIENT) and "/.propwash-tmp-" not in path}
    # The log may be writing the first turn already; the submission itself was the first write after its inputs.
    assert left - {wal} == set()
    stored = [number for number, call in enumerate(calls) if call == Call("fsync", f"{home}/store")][-1]
    log = [call.call for call in calls[stored:] if call.path == wal]
    assert "fdatasync" in log[1:]
    assert log[0] == "pwrite64"


def test_the_folders_above_a_new_home_are_synced_too(tmp_path: Path) -> None:
    calls = traced(tmp_path)
    made = [call.path for call in calls if call.call == "mkdir" and "/.propwash-tmp-" not in call.path]
    assert made[:3] == [str(tmp_path / "new"), str(tmp_path / "new" / "home"), str(tmp_path / "new" / "home" / "store")]
    for path in made[:3]:
        assert Call("fsync", str(Path(path).parent)) in calls[calls.index(Call("mkdir", path)) :]
