"""Log lines on stderr: constant text and fields, `WARNING effect failed, will try again effect=RunTask key=...`."""

from __future__ import annotations

import logging

from engine.cli.screen import tell

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest are the fields of this line."""


class _Lines(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        fields = [f"{name}={_quoted(value)}" for name, value in vars(record).items() if name not in _OWN]
        return " ".join([record.levelname, record.message, *fields])


class _Stderr(logging.Handler):
    """Asks for stderr anew with each line, because the live view replaces it while it draws."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


def configure(*, verbose: bool) -> None:
    """WARNING and above, or INFO and above."""
    handler = _Stderr()
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    for earlier in [known for known in root.handlers if isinstance(known, _Stderr)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(logging.INFO if verbose else logging.WARNING)


def _quoted(value: object) -> str:
    text = str(value)
    return repr(text) if not text or any(sign.isspace() or sign == '"' for sign in text) else text
