"""What submissions may not override: told before anything starts, because every task would fail of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.model.architectures import Architecture
from engine.model.errors import BadInput
from engine.model.overrides import Overrides

RAW_SCHEMES = ("s3", "gs", "abfs", "abfss", "file")
"""Of places that flytekit writes to with what it brings along."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def refuse_bad(overrides: Overrides) -> None:
    """Raises BadInput with every problem."""
    if problems := list(_problems(overrides)):
        raise BadInput(f"{'; '.join(problems)}; nothing was started")


def _problems(overrides: Overrides) -> Iterator[str]:
    wanted, prefix = overrides.architecture, overrides.raw_output_prefix
    if wanted and wanted not in list(Architecture):
        yield f"overrides.architecture: {wanted!r:.100} is none of {', '.join(Architecture)}"
    if overrides.max_parallelism < 0:
        yield f"overrides.max_parallelism: {overrides.max_parallelism} is below 0"
    for name, value in overrides.envs.items():
        if not name or "=" in name or "\0" in name:
            yield f"overrides.envs: {name!r:.100} is no name of a variable: it is empty, or holds '=' or a zero byte"
        elif "\0" in value:
            yield f"overrides.envs: the value of {name!r:.100} holds a zero byte, which no process can be given"
    scheme = _SCHEME.match(prefix)
    if prefix and not (scheme[1].lower() in RAW_SCHEMES if scheme else prefix.startswith("/")):
        expected = ", ".join(f"{each}://" for each in RAW_SCHEMES)
        yield f"overrides.raw_output_prefix: tasks can't write to {prefix!r:.200}, expected {expected} or a path from /"
