"""What is wrong with the values a person gave: collected, so that everything is told at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from engine.model.errors import BadInput

_KEPT = 30
"""Messages that are listed; the others are only counted."""
_SHOWN = 60
"""Characters of a value in a message."""
_NAMED = 30
"""Names that are listed where an unknown one was given."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Mismatch(ValueError):
    """A value that is not of the expected type; the text is the reason, empty where the type says it all."""


class Mistakes:
    """Messages in the order of their discovery; beyond `kept` they are only counted."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self.messages: list[str] = []
        self.count = 0

    def add(self, where: str, message: str) -> None:
        self.count += 1
        if len(self.messages) < self._kept:
            self.messages.append(f"{where}: {message}")

    def mismatch(self, where: str, value: object, expected: str, reason: str = "") -> None:
        self.add(where, f"expected {expected}, got {shown(value)}{': ' if reason else ''}{reason}")

    def extend(self, other: Mistakes) -> None:
        self.messages += other.messages[: self._kept - len(self.messages)]
        self.count += other.count

    def listed(self) -> list[str]:
        """The messages, with a last line for those that were only counted."""
        left = self.count - len(self.messages)
        return [*self.messages, f"... and {left} more"] if left else self.messages

    def raise_if_any(self, what: str) -> None:
        """Raises BadInput that lists every mistake in `what`."""
        if not self.count:
            return
        count = "1 problem" if self.count == 1 else f"{self.count} problems"
        lines = "".join(f"\n  - {line}" for line in self.listed())
        raise BadInput(f"{what} can't be used, {count}; nothing was started:{lines}")


def shown(value: object, depth: int = 0) -> str:
    """A value for a message, as JSON where it can be; cut where it is long, never rendered whole when it is huge."""
    match value:
        case str():
            text = json.dumps(value[: _SHOWN + 1], ensure_ascii=False)
        case list() | tuple() | dict() if depth > 2:
            text = "…"
        case list() | tuple():
            text = f"[{_listed([shown(item, depth + 1) for item in islice(value, 4)], len(value))}]"
        case dict():
            pairs = [f"{shown(key)}: {shown(item, depth + 1)}" for key, item in islice(value.items(), 4)]
            text = f"{{{_listed(pairs, len(value))}}}"
        case int() if not isinstance(value, bool) and value.bit_length() > 200:
            text = f"an integer of {value.bit_length()} bits"
        case None | bool() | int() | float():
            text = json.dumps(value)
        case _:
            text = f"{type(value).__name__} {value!s:.{_SHOWN}}"
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _listed(parts: list[str], length: int) -> str:
    return ", ".join([*parts, "…"] if length > len(parts) else parts)


def inside(where: str, key: object) -> str:
    """The place of a field or key: `--config.rate`, or `--table["a key"]`."""
    return f"{where}.{key}" if isinstance(key, str) and _NAME.match(key) else f"{where}[{shown(key)}]"


def closest(name: object, known: Iterable[str]) -> str:
    """`; did you mean ...?` with the nearest known name, and which names there are."""
    names = sorted(known)
    near = get_close_matches(str(name), names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ";"
    return f"{meant} there {'is' if len(names) == 1 else 'are'} {_listed(names[:_NAMED], len(names)) or 'none'}"
