"""Writes to stdout what the views and commands have to say, and never stops the engine for a reader that is gone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from functools import partial

from anyio import to_thread


class OutputRefused(Exception):
    """Stdout takes no more, for example because its disk is full."""


def say(text: str) -> None:
    """Write to stdout. A reader that has closed it (`| head`) is no error: what follows goes nowhere.

    Raises OutputRefused for anything else.
    """
    _put(partial(sys.stdout.write, f"{text}\n"))


def say_bytes(data: bytes) -> bool:
    """The same for bytes as they are; False: the reader is gone."""
    return _put(partial(sys.stdout.buffer.write, data))


def _put(write: Callable[[], object]) -> bool:
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        _to_nowhere()
        return False
    except OSError as error:
        _to_nowhere()
        raise OutputRefused(f"stdout can't be written: {error.strerror}") from error
    return True


async def say_soon(text: str) -> None:
    """The same in a thread: a reader that pauses must not stop the event loop."""
    await to_thread.run_sync(partial(say, text), abandon_on_cancel=True)


def tell(text: str) -> None:
    """A message for a person, on stderr; never fails."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody is left to tell


def open_streams() -> None:
    """Stand in for stdin, stdout and stderr that the caller has closed, before another file gets their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the life of the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a letter shows another in its place.
        sys.stdout.reconfigure(errors="replace")


def _to_nowhere() -> None:
    """Python flushes stdout once more at its end, which must not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
