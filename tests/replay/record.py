"""Makes the recordings of tests/replay/recorded anew: `python -m tests.replay.record`.

A recording stands for the homes that people have, so one that today's code decides otherwise is a finding first. Only
where that difference is wanted are they made anew, and then the changelog says so.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgpack

from engine.adapters.sqlite.audit import SqliteAudit
from engine.machine.execution import plans_of
from engine.model import layout
from engine.model.events import AttemptPlanned
from engine.model.state import Snapshot
from engine.stores import look_at_store
from engine.wire import codec
from tests.replay.recordings import FOLDER

PLACE = Path("/tmp/recorded")
"""Stands in the recordings, so it tells nothing of the machine they were made on."""
WORKFLOWS = Path(__file__).parents[1] / "workflows"
NAMES = {"all": "every-kind", "map2": "recovered-map", "plan2": "recovered-plan", "gates": "gates"}
"""Execution -> recording."""


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    for file in ("every_kind.py", "recovering.py", "gates.py"):
        shutil.copy(WORKFLOWS / file, PLACE)
    _run("run", "every_kind.py", "wf", "--name", "all", "--n", "4", "--folder", str(PLACE))
    _recovered("map", "maps", "--xs", "[1, 2, 3, 4]")
    _recovered("plan", "plans")
    _answered()
    FOLDER.mkdir(exist_ok=True)
    for execution, name in NAMES.items():
        (FOLDER / f"{name}.txt").write_text("\n".join(asyncio.run(_lines(PLACE / "home", execution))) + "\n")


def _run(*words: str) -> int:
    return subprocess.run(_command(*words), cwd=PLACE, stdout=subprocess.DEVNULL, check=False).returncode


def _command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("propwash")), *words, "--home", str(PLACE / "home")]


def _recovered(name: str, workflow: str, *inputs: str) -> None:
    mended = PLACE / "mended"
    mended.unlink(missing_ok=True)
    assert _run("run", "recovering.py", workflow, "--name", name, "--folder", str(PLACE), *inputs) == 1
    mended.touch()
    assert _run("recover", name, "--name", f"{name}2") == 0


def _answered() -> None:
    """Started by hand, so that both gates begin before they are answered."""
    command = _command("run", "gates.py", "asks", "--n", "3", "--name", "gates")
    with subprocess.Popen(command, cwd=PLACE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("n0 RUNNING"):
                assert _run("signal", "gates", "how-many", "4") == 0
            elif line.startswith("n3 RUNNING"):
                assert _run("signal", "gates", "sure", "--approve") == 0


async def _lines(home: Path, name: str) -> list[str]:
    found: list[tuple[str, bytes]] = []
    async with SqliteAudit.open(home) as log, look_at_store(home) as blobs:
        (record,) = [one for one in await log.executions() if one.id.name == name]
        after, digests = 0, {record.package}
        while records := await log.events(after):
            after = records[-1].offset
            for one in records:
                if one.event is not None and one.event.execution == record.id:
                    found.append(("event", _anywhere(one.raw)))
                    digests |= {one.event.plan} if isinstance(one.event, AttemptPlanned) else set()
        found += [("fact", _anywhere(codec.pack_fact(fact))) for fact in await log.history(record.id)]
        for execution in filter(None, (record.id, record.recovers)):
            snapshot = await log.snapshot(execution)
            assert snapshot is not None
            found += _states(snapshot)
            digests |= {snapshot.execution.package, *plans_of(snapshot.nodes)}
        packages = [("package", await blobs.get(blobs.uri(layout.package(digest)))) for digest in sorted(digests)]
    return [f"{kind} {base64.b64encode(data).decode()}" for kind, data in [*packages, *found]]


def _states(snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    yield "execution", _anywhere(codec.pack_execution(snapshot.execution))
    for node in snapshot.nodes:
        yield "node", _anywhere(codec.pack_node(node))


def _anywhere(data: bytes) -> bytes:
    """Without the place of this Python, which stands in tracebacks."""
    return bytes(msgpack.packb(_replaced(msgpack.unpackb(data))))


def _replaced(value: object) -> object:
    match value:
        case str():
            return value.replace(sys.prefix, "/venv").replace(sys.base_prefix, "/python")
        case list():
            return [_replaced(item) for item in value]
        case dict():
            return {key: _replaced(item) for key, item in value.items()}
    return value


if __name__ == "__main__":
    main()
