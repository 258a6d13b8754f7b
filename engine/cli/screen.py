"""Writes to stdout what the views and commands have to say, and never stops the engine for a reader that is gone."""

from __future__ import annotations

import os
import sys
from functools import partial

from anyio import to_thread


def say(text: str) -> None:
    """Write to stdout. A reader that has closed it (`| head`) is no error: what follows goes nowhere.

    Raises OSError for anything else (a full disk).
    """
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _to_nowhere()


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


def _to_nowhere() -> None:
    """Python flushes stdout once more at its end, which must not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
