"""A terminal gets only the lines that differ; messages on stderr stand above the picture, which stays whole."""

from __future__ import annotations

import io
import sys

import pytest

from engine.cli.terminal import Terminal

ACTS = {"\x1b[K": "line", "\x1b[J": "below", "\r": "begin", "\n": "down", "\x1b[": "up"}


class Screen(io.StringIO):
    """A terminal of one column after the other: understands what `Terminal` writes."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.row = [""], 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        column, rest = 0, text
        while rest:
            code = next((known for known in ACTS if rest.startswith(known)), rest[0])
            rest = rest.removeprefix(code)
            match ACTS.get(code):
                case "line":
                    self.lines[self.row] = self.lines[self.row][:column]
                case "below":
                    self.lines[self.row :] = [""]
                case "begin":
                    column = 0
                case "down":
                    self.row, column = self.row + 1, 0
                    self.lines += [""] * (self.row == len(self.lines))
                case "up":
                    count, _, rest = rest.partition("A")
                    self.row -= int(count)
                case _:
                    line = self.lines[self.row].ljust(column + 1)
                    self.lines[self.row] = line[:column] + code + line[column + 1 :]
                    column += 1
        return super().write(text)


def test_only_what_differs_is_written() -> None:
    screen = Screen()
    terminal = Terminal(screen)
    terminal.show(["one", "two", "three"])
    terminal.show(["one", "two and a half", "three"])
    assert screen.getvalue().endswith("\r\x1b[3A\ntwo and a half\x1b[K\n\n")
    assert screen.lines == ["one", "two and a half", "three", ""]
    written = len(screen.getvalue())
    terminal.show(["one", "two and a half", "three"])
    assert len(screen.getvalue()) == written, "nothing has changed"


def test_a_picture_may_grow_and_shrink() -> None:
    screen = Screen()
    terminal = Terminal(screen)
    for lines in (["a longer line"], ["a", "b", "c"], [], ["d", "e"], ["d"]):
        terminal.show(lines)
        assert screen.lines == [*lines, ""]


def test_messages_stand_above_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    terminal = Terminal(screen)
    terminal.begin()
    terminal.show(["n0 RUNNING", "n1 RUNNING"])
    sys.stderr.write("WARNING a disk ")
    sys.stderr.write("is slow\nand more")
    assert screen.lines == ["WARNING a disk is slow", "n0 RUNNING", "n1 RUNNING", ""]
    terminal.show(["n0 RUNNING", "n1 SUCCEEDED"])
    terminal.end()
    assert sys.stderr is screen
    assert screen.lines == ["WARNING a disk is slow", "and more", "n0 RUNNING", "n1 SUCCEEDED", ""]


def test_messages_that_go_elsewhere_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = io.StringIO()
    monkeypatch.setattr(sys, "stderr", elsewhere)
    terminal = Terminal(Screen())
    terminal.begin()
    assert sys.stderr is elsewhere
    terminal.end()
