"""The crash harness: one home, many engines that are killed one after the other, and what must hold after each.

After every death: the checker finds nothing, no process of the dead engine is left, and no attempt has ever run beside
another one of its node. What is repeated is only what was in flight. At the end: the right results, all accounted for.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from engine.cli.audit import audit
from engine.cli.check import line
from engine.cli.inspection import Counts
from engine.gateway.documents import Documents
from engine.homes import read_home
from engine.machine.replay import Problem
from engine.wire.packaging import package_file
from tests.service.crash_driver import LIFE_SECONDS, Life, Order

ROOT = Path(__file__).parents[2]
CRASHING = ROOT / "tests" / "workflows" / "crashing.py"
GONE_SECONDS = 10.0
"""The longest that processes of a dead engine may be seen."""
SLOTS = 4
"""Processes at once: what can be in flight of real tasks."""


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    entity: str
    executions: Mapping[str, dict[str, object]]
    outputs: Callable[[dict[str, object]], object]
    """The right value of `o0`, from the inputs."""
    scripted: bool = True
    task_seconds: float = 0.0


@dataclass(slots=True)
class Figures:
    accepted: int = 0
    completed: int = 0
    kills: int = 0
    started: int = 0
    repeated: int = 0
    in_flight: int = 0
    """Attempts that ran at the moment of a kill, summed up: the most that may be repeated."""
    resume_seconds: list[float] = field(default_factory=list)
    """From the start of an engine, imports left out, until all that was left goes on."""

    def add(self, other: Figures) -> None:
        for name in ("accepted", "completed", "kills", "started", "repeated", "in_flight"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.resume_seconds += other.resume_seconds

    def __str__(self) -> str:
        ordered = sorted(self.resume_seconds) or [0.0]
        return (
            f"accepted {self.accepted}, completed {self.completed}, kills {self.kills}, attempts {self.started}, "
            f"repeated {self.repeated} of {self.in_flight} in flight, "
            f"resumed in {ordered[len(ordered) // 2]:.3f} s (p50), {ordered[-1]:.3f} s (max)"
        )


class Driver:
    """The process that forks engines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def live(self, order: Order) -> Life:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order).decode() + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the driver is gone: see its stderr"
        return msgspec.json.decode(answer, type=Life)


@contextmanager
def driver() -> Iterator[Driver]:
    words = [sys.executable, "-m", "tests.service.crash_driver"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Driver(process)
        finally:
            process.kill()


def packaged(file: Path, folder: Path) -> Path:
    """The workflows of a file, as the driver reads them."""
    path = folder / f"{file.stem}.files"
    path.write_bytes(msgspec.msgpack.encode(anyio.run(partial(package_file, file))))
    return path


class Harness:
    """One home and the lives of its engines."""

    def __init__(
        self, driver: Driver, package: Path, workload: Workload, folder: Path, settings: tuple[str, ...] = ()
    ) -> None:
        folder.mkdir(parents=True)
        self.home, self._marks, self._accepted = folder / "home", folder / "marks", folder / "accepted"
        self._driver, self._package, self.workload, self._settings = driver, package, workload, settings
        self.figures, self.limit_seconds = Figures(), LIFE_SECONDS
        self._started: set[str] = set()
        self._running: set[str] = set()
        """Attempts without an end mark: they ran at the last kill."""
        self._read = 0

    def life(self, *, place: str = "", count: int = 0, delay: float | None = None, pipe: Path | None = None) -> Life:
        """One engine, from its start to its death; everything that must hold then is checked."""
        order = Order(
            home=str(self.home),
            package=str(self._package),
            entity=self.workload.entity,
            executions=dict(self.workload.executions),
            accepted=str(self._accepted),
            marks=str(self._marks),
            scripted=self.workload.scripted and not self._settings,
            task_seconds=self.workload.task_seconds,
            place=place,
            count=count,
            delay=delay,
            limit_seconds=self.limit_seconds,
            pipe=str(pipe or ""),
            **({"settings": self._settings} if self._settings else {}),
        )
        life = self._driver.live(order)
        assert life.status in (0, -9), f"the engine ended with {life.status}"
        assert not life.hung, f"the engine had not ended after {life.seconds:.0f} s: its work does not go on"
        _wait_until_gone(self.home)
        self._see_marks()
        if life.status:
            self.figures.kills += 1
            self.figures.in_flight += len(self._running) if self.workload.scripted else SLOTS
        if life.ready_seconds is not None:
            self.figures.resume_seconds.append(life.ready_seconds)
        if self.figures.resume_seconds:
            self.check()
        return life

    def check(self) -> Counts:
        found: list[Problem] = []
        counts = anyio.run(audit, self.home, found.append)
        assert not found, "\n".join(map(line, found))
        return counts

    def finish(self) -> Figures:
        """Let an engine do the rest; every accepted execution has ended, with the right result."""
        assert self.life().status == 0
        counts = self.check()
        names = self._accepted.read_text().split()
        self.figures.accepted = len(set(names))
        documents = anyio.run(_documents, self.home)
        mine = {document["execution"]["name"]: document for document in documents}
        assert set(names) == set(self.workload.executions)
        for name, inputs in self.workload.executions.items():
            document = mine[name]
            assert document["phase"] == "SUCCEEDED", document["error"]
            assert document["outputs"]["o0"] == self.workload.outputs(inputs)
            self.figures.completed += 1
        assert counts.unfinished == 0
        assert counts.dead_letters == 0
        assert self.figures.repeated <= self.figures.in_flight
        return self.figures

    def _see_marks(self) -> None:
        """New marks: nothing runs twice at a time, and what has ended is not run again."""
        if not self._marks.exists():
            return
        with self._marks.open() as marks:
            marks.seek(self._read)
            for text in iter(marks.readline, ""):
                self._see(json.loads(text))
            self._read = marks.tell()

    def _see(self, mark: dict[str, Any]) -> None:
        key = mark["key"]
        assert not mark["alive"], f"{key} was started while {mark['alive']} ran"
        if mark["what"] == "end":
            self._running.discard(key)
            return
        self.figures.started += 1
        if key in self._started:
            self.figures.repeated += 1
            # A real task marks its end before flytekit writes its outputs: there, only the number is known.
            assert key in self._running or not self.workload.scripted, f"{key} had ended and was run again"
        self._started.add(key)
        self._running.add(key)


async def _documents(home: Path) -> list[dict[str, Any]]:
    async with read_home(home) as view:
        documents = Documents(view.log, view.blobs, home)
        return [await documents.of(record.id) for record in await view.log.executions()]


def _wait_until_gone(home: Path) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    wanted = f"CRASH_HOME={home}\0".encode()
    while left := [pid for pid in _processes() if wanted in _environment(pid)]:
        assert time.monotonic() < deadline, f"processes of a dead engine are left: {left}"
        time.sleep(0.005)


def _processes() -> list[Path]:
    return [path for path in Path("/proc").iterdir() if path.name.isdigit()]


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""
