"""Packages a Python file of an author, by flytekit, in a child process of the author's interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.model.errors import BadInput
from engine.wire.package import PackageFiles

TIMEOUT_SECONDS = 300.0


async def package_file(
    path: Path, *, python: str = sys.executable, timeout_seconds: float = TIMEOUT_SECONDS
) -> PackageFiles:
    """The packaged workflows of one Python file. Raises BadInput with the author's own error when it can't be imported."""
    raise BadInput(f"{path}: not packaged yet")
