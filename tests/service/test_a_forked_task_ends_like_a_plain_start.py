"""The warm parent's forks against plain starts of the same commands: exit, files, values, errors and output agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import Exit, ExitReason
from tests.dataplane import serialized
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]

CASES: dict[str, dict[str, object]] = {
    "add": {"a": 1},
    "nothing": {},
    "raises": {},
    "recoverable": {},
    "wrong_type": {},
    "planned": {"n": 3},
    "exits": {"code": 3},
    "vanishes": {},
    "killed": {},
    "no_such_task": {},
    "prints": {"text": "größe\n"},
}


class Outcome(NamedTuple):
    reason: ExitReason
    code: int
    files: list[str]
    outputs: bytes | None
    error: tuple[str, int, int, str] | None
    stdout: bytes


def outcome(bench: Bench, node: str, ended: Exit) -> Outcome:
    prefix = bench.prefix(node)
    files = sorted(path.name for path in prefix.iterdir())
    outputs = (prefix / "outputs.pb").read_bytes() if "outputs.pb" in files else None
    error = None
    if "error.pb" in files:
        document = bench.error(node)
        last_line = document.message.strip().splitlines()[-1]
        error = (document.code, document.kind, document.origin, re.sub(r"/\S+", "<path>", last_line.strip()))
    return Outcome(ended.reason, ended.code, files, outputs, error, (prefix / "stdout.log").read_bytes())


async def outcomes(folder: Path, *, fork: bool) -> dict[str, Outcome]:
    bench = Bench(folder)
    requests = {name: bench.task(name, inputs, node=name) for name, inputs in CASES.items()}
    requests["element"] = bench.element("prints", {"text": ["a", "bcd"]}, 1, node="element")
    requests["corrupt"] = bench.task("add", {"a": 1}, node="corrupt")
    (folder / "corrupt" / "inputs.pb").write_bytes(b"\xff\xff")
    found: dict[str, Outcome] = {}

    async def run(name: str) -> None:
        found[name] = outcome(bench, name, await runner.run(requests[name], nothing))

    async with LocalRunner(folder / "work", fork=fork) as runner, anyio.create_task_group() as tasks:
        for name in requests:
            tasks.start_soon(run, name)
    return found


async def test_every_kind_of_end(tmp_path: Path) -> None:
    forked = await outcomes(tmp_path / "forked", fork=True)
    plain = await outcomes(tmp_path / "plain", fork=False)
    assert forked == plain
    logs = ["stderr.log", "stdout.log"]
    assert {name: (found.reason, found.code, found.files) for name, found in forked.items()} == {
        "add": (ExitReason.EXITED, 0, ["outputs.pb", *logs]),
        "nothing": (ExitReason.EXITED, 0, ["outputs.pb", *logs]),
        "raises": (ExitReason.EXITED, 0, ["error.pb", *logs]),
        "recoverable": (ExitReason.EXITED, 0, ["error.pb", *logs]),
        "wrong_type": (ExitReason.EXITED, 0, ["error.pb", *logs]),
        "planned": (ExitReason.EXITED, 0, ["futures.pb", *logs]),
        "exits": (ExitReason.EXITED, 3, logs),
        "vanishes": (ExitReason.EXITED, 7, logs),
        "killed": (ExitReason.SIGNALLED, 9, logs),
        "no_such_task": (ExitReason.EXITED, 0, ["error.pb", *logs]),
        "prints": (ExitReason.EXITED, 0, ["outputs.pb", *logs]),
        "element": (ExitReason.EXITED, 0, ["outputs.pb", *logs]),
        "corrupt": (ExitReason.EXITED, 0, ["error.pb", *logs]),
    }
    assert forked["nothing"].outputs == b""
    assert forked["prints"].stdout == "\ngröße\n".encode()
    assert forked["element"].outputs == serialized(o0=3)
    assert forked["recoverable"].error == (
        "USER:Recoverable",
        1,
        1,
        "FlyteRecoverableException: USER:Recoverable: error=try me again",
    )
