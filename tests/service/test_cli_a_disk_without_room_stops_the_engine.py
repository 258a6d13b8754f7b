"""Small and read-only file systems, mounted for one test in a namespace of its own: the task is not blamed, the engine
stops with exit code 3 and says why, and a resume finishes the work when there is room.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("tmpfs")]
FILE = WORKFLOWS / "filling.py"


def script(propwash: Propwash, text: str) -> list[str]:
    """Run shell commands where `disk` is a file system of 6 MB; what they print, line by line."""
    disk = propwash.folder / "disk"
    disk.mkdir()
    begin = f'set -u; mount -t tmpfs -o size=6m none "{disk}"; cd "{propwash.folder}"; '
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", begin + text],
        env=propwash.environ({"PROPWASH_HOME": str(disk / "home"), "DISK": str(disk), "PW": propwash.program}),
        cwd=propwash.folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    (propwash.folder / "stderr").write_text(done.stderr)
    return done.stdout.splitlines()


def resumed(propwash: Propwash) -> dict[str, Any]:
    (document,) = json.loads((propwash.folder / "resumed").read_text())
    assert document["nodes"][0]["attempts"] == 1, "what the disk did uses up no retry"
    return dict(document)


def said(folder: Path) -> str:
    return (folder / "stderr").read_text()


def test_the_output_of_a_task_does_not_fit(propwash: Propwash) -> None:
    codes = script(
        propwash,
        f'"$PW" run --json --name e {FILE} filling --megabytes 20; echo $?; '
        '"$PW" check > checked; echo $?; '
        'mount -o remount,size=100m "$DISK"; '
        '"$PW" resume --json > resumed; echo $?; "$PW" check >> checked; echo $?',
    )
    assert codes == ["3", "0", "0", "0"], said(propwash.folder)
    assert "the engine had to stop: " in said(propwash.folder)
    assert f"the disk of {propwash.folder}/disk/home/running/1 is full" in said(propwash.folder)
    assert resumed(propwash)["outputs"] == {"o0": 20_000_000}


def test_the_store_becomes_read_only_while_a_task_runs(propwash: Propwash) -> None:
    store = propwash.folder / "disk" / "home" / "store"
    codes = script(
        propwash,
        f'mkdir -p {store}; touch {store}.seal; "$PW" run --json --name e {FILE} sealing --store {store}; echo $?; '
        f'umount {store}; "$PW" check > checked; echo $?; '
        '"$PW" resume --json > resumed; echo $?; "$PW" check >> checked; echo $?',
    )
    assert codes == ["3", "0", "0", "0"], said(propwash.folder)
    assert "Read-only file system" in said(propwash.folder)
    assert resumed(propwash)["outputs"] == {"o0": str(store)}


def test_a_home_on_a_read_only_disk_can_be_looked_at_and_not_worked_on(propwash: Propwash) -> None:
    codes = script(
        propwash,
        f'"$PW" run --json --name e {FILE} filling --megabytes 1 > first; echo $?; mount -o remount,ro "$DISK"; '
        '"$PW" resume --json > resumed; echo $?; "$PW" check > checked; echo $?; "$PW" get e --json > got; echo $?',
    )
    assert codes == ["0", "2", "0", "0"], said(propwash.folder)
    assert "lock); nothing was started" in said(propwash.folder)
    assert json.loads((propwash.folder / "got").read_text()) == json.loads((propwash.folder / "first").read_text())
