"""Engines that die: `python -m tests.service.crash_driver` reads one order (JSON) a line and answers with one line.

Each engine lives in a fork of its own, so that it costs no import. It submits what is not accepted yet, waits for the
end of all, and kills itself with SIGKILL at the `count`-th time that it comes to `place`; or it is killed from outside
after `delay` seconds. What it starts finds the home in its environment as CRASH_HOME.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec
from msgspec import Struct

from config.load import load
from engine.adapters.files import errands
from engine.adapters.memory.runner import NoopRunner, Script
from engine.adapters.memory.scripts import by_attempt, copies, raises, takes
from engine.app import Engine, running
from engine.cli.workflows import choose
from engine.homes import open_parts
from engine.model.ids import ExecutionId
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import Exit, TaskRequest
from engine.wire.inputs import inputs_for
from engine.wire.package import PackageFiles

PLACES = ("before_commit", "after_commit", "before_launch", "after_launch", "before_publish", "after_publish")
"""The loop's own hooks, and both sides of every file that is put in its place in the store."""
LIFE_SECONDS = 100.0
"""What hangs is killed then, and told."""


class Order(Struct, frozen=True):
    """One life of an engine."""

    home: str
    package: str
    """File with a `PackageFiles`, msgpack."""
    entity: str
    executions: dict[str, dict[str, object]]
    """Name -> inputs."""
    accepted: str
    """File to which the name of each acknowledged submission is appended."""
    marks: str
    scripted: bool = False
    """No processes: attempts read and write as the tasks do, and last `task_seconds`."""
    task_seconds: float = 0.0
    place: str = ""
    count: int = 0
    delay: float | None = None
    limit_seconds: float = LIFE_SECONDS
    pipe: str = ""
    """A named pipe: the engine is killed once something is written into it."""
    settings: tuple[str, ...] = ("processes.max_concurrent=4",)


class Life(Struct, frozen=True):
    status: int
    """Exit status, negative: the signal that ended it."""
    seconds: float
    hung: bool = False
    """It did not end by itself within its limit."""
    ready_seconds: float | None = None
    """From its start until all that was left is taken up; None: it did not come so far."""


def main() -> None:
    for line in sys.stdin:
        life = _live(msgspec.json.decode(line, type=Order))
        print(msgspec.json.encode(life).decode(), flush=True)


def _live(order: Order) -> Life:
    reading, writing = os.pipe()
    watched, held = os.pipe()
    born = time.monotonic()
    pid = os.fork()
    if not pid:
        code = 99
        try:
            os.close(reading)
            os.close(held)
            threading.Thread(target=_end_with_driver, args=(watched,), daemon=True).start()
            _engine(order, lambda: os.write(writing, b"ready"))
            code = 0
        finally:
            os._exit(code)
    for descriptor in (writing, watched):
        os.close(descriptor)
    told = os.open(order.pipe or os.devnull, os.O_RDONLY | os.O_NONBLOCK)
    ready, hung = _watch(pid, reading, told if order.pipe else -1, born, order)
    _, status = os.waitpid(pid, 0)
    for descriptor in (reading, held, told):
        os.close(descriptor)
    return Life(os.waitstatus_to_exitcode(status), time.monotonic() - born, hung, ready)


def _end_with_driver(watched: int) -> None:
    os.read(watched, 1)
    os._exit(98)


def _watch(pid: int, reading: int, told: int, born: float, order: Order) -> tuple[float | None, bool]:
    """Wait for the end of the engine, which may have to be brought about; when it was ready, and whether it hung."""
    ready = None
    gone = os.pidfd_open(pid)
    polled = select.poll()
    for descriptor in (gone, reading, *([told] if told >= 0 else [])):
        polled.register(descriptor, select.POLLIN)
    deadline, killed = born + (order.limit_seconds if order.delay is None else order.delay), False
    while True:
        events = dict(polled.poll(None if killed else max(deadline - time.monotonic(), 0) * 1000))
        if reading in events:
            ready = time.monotonic() - born if os.read(reading, 5) else None
            polled.unregister(reading)
        if gone in events:
            os.close(gone)
            return ready, killed and order.delay is None and told < 0
        if told in events:
            polled.unregister(told)
        if not events or told in events:
            os.kill(pid, signal.SIGKILL)
            killed = True


def _engine(order: Order, ready: Callable[[], object]) -> None:
    os.environ.update(CRASH_HOME=order.home, CRASH_MARKS=order.marks)
    os.environ.pop("PYTHONPATH", None)
    here = _killer(order.place, order.count)
    if order.place.endswith("_publish"):
        _around_renames(here)
    files = msgspec.msgpack.decode(Path(order.package).read_bytes(), type=PackageFiles)
    accepted = os.open(order.accepted, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    anyio.run(_run, order, here, ready, files, accepted, backend_options={"use_uvloop": True})


def _killer(place: str, count: int) -> Callable[[str], None]:
    seen = itertools.count(1)
    lock = threading.Lock()

    def here(now: str) -> None:
        if now == place:
            with lock:
                if next(seen) == count:
                    os.kill(os.getpid(), signal.SIGKILL)

    return here


def _around_renames(here: Callable[[str], None]) -> None:
    """Every object of the store appears by a rename; all of them in this process."""
    errands.MANY = sys.maxsize
    rename = os.rename

    def killing(source: str, target: str) -> None:
        here("before_publish")
        rename(source, target)
        here("after_publish")

    os.rename = killing  # type: ignore[assignment]


async def _run(
    order: Order, here: Callable[[str], None], ready: Callable[[], object], files: PackageFiles, accepted: int
) -> None:
    settings = load(None, list(order.settings), {})
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_parts(Path(order.home), settings, here))
        if order.scripted:
            parts = replace(parts, runner=NoopRunner(_script(parts.blobs, order)))
        engine = await stack.enter_async_context(running(parts))
        ready()
        await _finish(engine, order, files, accepted)


async def _finish(engine: Engine, order: Order, files: PackageFiles, accepted: int) -> None:
    """Submit what is not known to be accepted, and wait for all."""
    known = os.pread(accepted, 1 << 20, 0).decode().split()
    chosen = await choose(files, order.entity, "p", "d", Path(order.home))
    digest = await engine.store_package(chosen.package)

    async def see_to(name: str) -> None:
        execution = ExecutionId("p", "d", name)
        if name not in known:
            inputs = inputs_for(chosen.target, order.executions[name])
            await engine.submit(execution, chosen.entity, digest, inputs)
            os.write(accepted, f"{name}\n".encode())
        await engine.wait(execution)

    async with anyio.create_task_group() as group:
        for name in sorted(order.executions):
            group.start_soon(see_to, name)


def _script(blobs: BlobStore, order: Order) -> Script:
    """What the tasks of crashing.py do, and the same marks."""
    marks = os.open(order.marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    good, bad = copies(blobs), raises(blobs, "it is not ready", recoverable=True)

    def chosen(request: TaskRequest) -> Script:
        fails = request.key.index is not None and request.key.index % 5 == 0
        script = by_attempt(bad, good) if fails else good
        return takes(order.task_seconds, script) if order.task_seconds else script

    async def play(request: TaskRequest) -> Exit:
        _mark(marks, "start", request)
        played = chosen(request)(request)
        ended = played if isinstance(played, Exit) else await played
        _mark(marks, "end", request)
        return ended

    return play


def _mark(marks: int, what: str, request: TaskRequest) -> None:
    line = {"what": what, "key": str(request.key), "pid": os.getpid(), "alive": []}
    os.write(marks, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    main()
