"""One run of an event loop for one command: Ctrl-C and SIGTERM stop it, and stopping has one deadline."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import anyio
from anyio import TASK_STATUS_IGNORED, CancelScope
from anyio.abc import TaskStatus

from engine.cli.exitcodes import ExitCode
from engine.cli.screen import tell

_TELLING_SECONDS = 1.0
_GC_THRESHOLDS = (50_000, 20, 20)
"""The engine makes many small values and hardly a cycle: Python's default (700, 10, 10) costs a tenth of its time."""
_CODES = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}


class Session:
    """What a command and the signals tell each other."""

    def __init__(self) -> None:
        self.deadline_seconds: float | None = None
        """How long a stop may take in all; known when the settings are read."""
        self.interrupted: ExitCode | None = None
        self._result: int | None = None
        self._watchdog: threading.Timer | None = None

    def finished(self, code: int) -> None:
        """The command has its result and has told it: a signal that comes now does not change the exit code."""
        self._result = code
        self.closing(code)

    def stops_with(self, code: int) -> None:
        """A service: it does what it was asked for until a signal ends it, which is no fault of anybody's."""
        self._result = code

    def code(self, returned: int) -> int:
        """What the process exits with."""
        if self._result is not None:
            return self._result
        return returned if self.interrupted is None else self.interrupted

    def closing(self, code: int) -> None:
        """The command is over, or was interrupted: from now on everything must end within the deadline."""
        if self._watchdog is None and self.deadline_seconds is not None:
            self._watchdog = threading.Timer(self.deadline_seconds, _give_up, (code, self.deadline_seconds))
            self._watchdog.daemon = True
            self._watchdog.start()

    def closed(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()


def run_session(command: Callable[[Session], Awaitable[int]]) -> int:
    """Run a command's coroutine to its end; its exit code, or that of the signal that ended it."""
    gc.set_threshold(*_GC_THRESHOLDS)
    return anyio.run(_run, command, backend_options={"use_uvloop": _has_uvloop()})


async def _run(command: Callable[[Session], Awaitable[int]]) -> int:
    session, code = Session(), int(ExitCode.SUCCEEDED)
    with _closed_at_the_end(session):
        async with anyio.create_task_group() as group:
            scope = CancelScope()
            await group.start(partial(_obey_signals, session, scope))
            with scope:
                code = await command(session)
            group.cancel_scope.cancel()
    return session.code(code)


async def _obey_signals(
    session: Session, scope: CancelScope, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED
) -> None:
    """The first signal stops the command in order, the second leaves at once."""
    with anyio.open_signal_receiver(*_CODES) as signals:
        task_status.started()
        async for number in signals:
            code = _CODES[number]
            if session.interrupted is not None:
                _leave(code)
            session.interrupted = code
            tell(f"{number.name}: stopping; once more leaves at once")
            session.closing(session.code(code))
            scope.cancel()


@contextmanager
def _closed_at_the_end(session: Session) -> Iterator[None]:
    try:
        yield
    finally:
        session.closed()


def _give_up(code: int, seconds: float) -> None:
    message = f"stopping took longer than shutdown.deadline_seconds ({seconds:g}): left; the next resume does the rest"
    # In a thread of its own, because stderr may be what hangs.
    telling = threading.Thread(target=tell, args=(message,), daemon=True)
    telling.start()
    telling.join(_TELLING_SECONDS)
    _leave(code)


def _leave(code: int) -> None:
    """End this process now. Whatever it started ends with it, and the log is as of the last commit."""
    os._exit(code)


def _has_uvloop() -> bool:
    return importlib.util.find_spec("uvloop") is not None
