"""Lines at the bottom of a terminal that are redrawn in place; what goes to stderr meanwhile scrolls by above them."""

from __future__ import annotations

import io
import shutil
import sys
import threading
from collections.abc import Sequence
from typing import TextIO

_CLEAR_LINE, _CLEAR_BELOW = "\x1b[K", "\x1b[J"


class Terminal:
    """Thread-safe. A terminal that is paused, or gone (OSError), holds up or fails whoever writes to it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._shown: tuple[str, ...] = ()
        self._stderr: TextIO | None = None

    def size(self) -> tuple[int, int]:
        """Columns and lines that a picture may fill: the cursor stands on a line below it."""
        size = shutil.get_terminal_size()
        return size.columns, max(size.lines - 2, 1)

    def begin(self) -> None:
        if sys.stderr.isatty():
            self._stderr, sys.stderr = sys.stderr, _Above(self)

    def end(self) -> None:
        """Leave the last picture where it is."""
        if self._stderr is not None:
            sys.stderr.close()  # what stands in for it writes a line that has no end yet
            sys.stderr, self._stderr = self._stderr, None

    def show(self, lines: Sequence[str]) -> None:
        """Put these lines in the place of the last ones; only those that differ are written."""
        with self._lock:
            if text := _over(self._shown, lines):
                self._write(text)
            self._shown = tuple(lines)

    def above(self, text: str) -> None:
        """Whole lines of stderr."""
        assert self._stderr is not None
        with self._lock:
            self._write(_up(len(self._shown)) + _CLEAR_BELOW)
            self._stderr.write(text)
            self._stderr.flush()
            self._write("".join(f"{line}\n" for line in self._shown))

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class _Above(io.TextIOBase):
    """Stands in for stderr."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._begun = terminal, ""

    def write(self, text: str) -> int:
        whole, newline, self._begun = f"{self._begun}{text}".rpartition("\n")
        if newline:
            self._terminal.above(f"{whole}\n")
        return len(text)

    def flush(self) -> None:
        """A line that has not ended yet waits for its end."""

    def close(self) -> None:
        if self._begun:
            self.write("\n")
        super().close()

    def isatty(self) -> bool:
        return True


def _over(old: Sequence[str], new: Sequence[str]) -> str:
    """What turns the old lines above the cursor into the new ones."""
    if tuple(new) == tuple(old):
        return ""
    parts = [_up(len(old))]
    for n, line in enumerate(new):
        parts.append("\n" if n < len(old) and old[n] == line else f"{line}{_CLEAR_LINE}\n")
    if len(new) < len(old):
        parts.append(_CLEAR_BELOW)
    return "".join(parts)


def _up(lines: int) -> str:
    return f"\r\x1b[{lines}A" if lines else "\r"
