"""What the live view costs: its CPU time as a share of the engine's, over 1,000 nodes that do nothing."""

from __future__ import annotations

import os
import pty
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from benchmarks.figures import Figure
from benchmarks.programs import integer, literal_map
from benchmarks.workloads import run_one
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.cli.live import LiveView
from engine.cli.terminal import Terminal
from engine.cli.views import showing
from tests.programs import chain

_P = ParamSpec("_P")
_T = TypeVar("_T")
NODES = 1_000


class Spent:
    """CPU seconds of the calls it is wrapped around, whichever thread they run in."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def by(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(call)
        def timed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            begin = time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds += time.thread_time() - begin

        return timed


async def view_1000() -> list[Figure]:
    """A chain of 1,000 nodes on a terminal of 120 by 40."""
    program, spent = chain(NODES), Spent()
    with _terminal(), _timed(spent):
        async with fresh_home() as home, engine_on(home, program, literal_map(o0=integer(1))) as engine:
            begin = time.process_time()
            async with showing(engine, [execution(0)], home):
                await run_one(engine, program)
            total = time.process_time() - begin
    share = 100 * spent.seconds / (total - spent.seconds)
    return [Figure("view-1000", share, "% of CPU", 0.0, 0.0, f"{spent.seconds * 1e3:.1f} of {total * 1e3:.0f} ms")]


@contextmanager
def _timed(spent: Spent) -> Iterator[None]:
    originals = LiveView.see, LiveView.picture, Terminal.show
    # Replaced on the classes, because the command makes its own view.
    for owner, name in ((LiveView, "see"), (LiveView, "picture"), (Terminal, "show")):
        setattr(owner, name, spent.by(getattr(owner, name)))
    try:
        yield
    finally:
        LiveView.see, LiveView.picture, Terminal.show = originals  # type: ignore[method-assign]


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
