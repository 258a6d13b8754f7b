"""Log lines on stderr: constant text and fields, `WARNING effect failed, will try again effect=RunTask key=...`.

Or, for machines, one JSON object a line, with the execution, the node and the attempt as fields of their own.
"""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime

from engine.cli.screen import tell
from engine.ports.concern import ATTEMPT

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest are the fields of this line."""
_KEY = re.compile(r"(?P<execution>[^|]+)\|(?P<node>[^|]+)\|\d+\|(?P<attempt>\d+)(\|[^|]*)?")
"""An AttemptKey (engine.model.ids), as text."""


class _Lines(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        fields = [f"{name}={_quoted(value)}" for name, value in _fields(record).items()]
        return " ".join([record.levelname, record.message, *fields])


class _Objects(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "execution": None,
            "node": None,
            "attempt": None,
        }
        for name, value in _fields(record).items():
            if (key := _KEY.fullmatch(str(value))) is not None:
                line |= {"execution": key["execution"], "node": key["node"], "attempt": int(key["attempt"])}
            else:
                line[name] = value
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _Stderr(logging.Handler):
    """Asks for stderr anew with each line, because the live view replaces it while it draws."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


def configure(*, verbose: bool, as_json: bool = False) -> None:
    """WARNING and above, or INFO and above."""
    handler = _Stderr()
    handler.setFormatter(_Objects() if as_json else _Lines())
    root = logging.getLogger()
    for earlier in [known for known in root.handlers if isinstance(known, _Stderr)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(logging.INFO if verbose else logging.WARNING)
    # It complains mostly of groups that change, as groups do; what matters it raises, and the adapter tells.
    logging.getLogger("aiokafka").setLevel(logging.NOTSET if verbose else logging.CRITICAL)


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Those of the line itself; where it names no execution, the attempt that it was written for."""
    found = {name: value for name, value in vars(record).items() if name not in _OWN}
    concerned = ATTEMPT.get()
    if concerned is None or "execution" in found or any(_KEY.fullmatch(str(value)) for value in found.values()):
        return found
    return {**found, "key": str(concerned)}


def _quoted(value: object) -> str:
    text = str(value)
    return repr(text) if not text or any(sign.isspace() or sign == '"' for sign in text) else text
