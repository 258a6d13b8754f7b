"""What the live view costs: its CPU time as a share of the engine's, over 1,000 nodes that do nothing.

All that the view does is timed by the CPU clock of the thread that does it: what it takes in from each commit, every
step of the task that draws, the writing to the terminal. Other load on the machine makes no difference to that. As a
check, the same executions run by turns with the view and without it, by the clock of the whole process.
"""

from __future__ import annotations

import os
import pty
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from benchmarks.figures import Figure
from benchmarks.programs import integer, lattice, literal_map
from benchmarks.workloads import run_one
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.cli.terminal import Terminal
from engine.cli.views import _Artist, showing

_P = ParamSpec("_P")
_T = TypeVar("_T")
NODES, ROUNDS = 1_000, 10


class Spent:
    """CPU seconds of what it is wrapped around, whichever thread does it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def timing(self) -> Iterator[None]:
        begin = time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.thread_time() - begin

    def by(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(call)
        def timed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            with self.timing():
                return call(*args, **kwargs)

        return timed

    def by_steps(self, call: Callable[_P, Coroutine[Any, Any, None]]) -> Callable[_P, Coroutine[Any, Any, None]]:
        @wraps(call)
        async def timed(*args: _P.args, **kwargs: _P.kwargs) -> None:
            await _Steps(call(*args, **kwargs), self)

        return timed


class _Steps:
    """Runs a coroutine, timing every step of it and not the waiting between them."""

    def __init__(self, work: Coroutine[Any, Any, None], spent: Spent) -> None:
        self._work, self._spent = work, spent

    def __await__(self) -> Generator[Any, Any, None]:
        value: Any = None
        step = self._work.send
        while True:
            try:
                with self._spent.timing():
                    waiting = step(value)
            except StopIteration:
                return
            try:
                value, step = (yield waiting), self._work.send
            except BaseException as error:  # noqa: BLE001 - handed on to the coroutine, which decides
                value, step = error, self._work.throw


async def view_1000() -> list[Figure]:
    """Executions of 1,000 nodes, 100 at once, on a terminal of 120 by 40."""
    program, spent = lattice(NODES), Spent()
    seconds: dict[bool, list[float]] = {True: [], False: []}
    with _terminal(), _timed(spent):
        async with fresh_home() as home, engine_on(home, program, literal_map(o0=integer(1))) as engine:
            await run_one(engine, program)
            for number in range(1, 2 * ROUNDS + 1):
                watched = number % 2 == 0
                begin = time.process_time()
                async with showing(engine, [execution(number)], home, quiet=not watched):
                    await run_one(engine, program, number)
                seconds[watched].append(time.process_time() - begin)
    with_view, without = sum(seconds[True]), sum(seconds[False])
    share = 100 * spent.seconds / (with_view - spent.seconds)
    note = (
        f"{spent.seconds / ROUNDS * 1e3:.2f} ms an execution; the process with the view "
        f"{with_view / ROUNDS * 1e3:.0f} ms, without {without / ROUNDS * 1e3:.0f} ms, "
        f"spread {min(seconds[False]) * 1e3:.0f} to {max(seconds[False]) * 1e3:.0f}"
    )
    return [Figure("view-1000", share, "% of CPU", 0.0, 0.0, note)]


@contextmanager
def _timed(spent: Spent) -> Iterator[None]:
    originals = _Artist.see, _Artist.work, Terminal.show
    # Replaced on the classes, because the command makes its own view.
    for owner, name, timed in (
        (_Artist, "see", spent.by),
        (_Artist, "work", spent.by_steps),
        (Terminal, "show", spent.by),
    ):
        setattr(owner, name, timed(getattr(owner, name)))
    try:
        yield
    finally:
        _Artist.see, _Artist.work, Terminal.show = originals  # type: ignore[method-assign]


@contextmanager
def _terminal() -> Iterator[None]:
    """Stdout is a terminal that somebody reads."""
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    size = {"COLUMNS": "120", "LINES": "40"}
    before, stdout = {name: os.environ.get(name) for name in size}, sys.stdout
    os.environ.update(size)
    try:
        with open(theirs, "w") as sys.stdout:
            yield
    finally:
        sys.stdout = stdout
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        reader.join()
        os.close(ours)


def _drain(descriptor: int) -> None:
    """Until the other end is closed."""
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        return
