"""Which programs run tasks: the Python of each image, and the engine of raw containers."""

from __future__ import annotations

import os
import shutil
import sys
from fnmatch import fnmatchcase

from msgspec import Struct

from engine.model.errors import BadInput


class Programs(Struct, frozen=True):
    python: str = sys.executable
    """Has flytekit and the author's libraries."""
    environments: tuple[tuple[str, str], ...] = ()
    """Pattern of an image and the Python that stands for it; the first that fits counts, `python` where none does."""
    container_engine: str | None = None
    """None = podman, else docker, whichever works."""

    def located(self) -> Programs:
        """With absolute paths (blocking). Raises BadInput naming the setting."""
        environments = tuple(
            (image, _located(python, f"processes.environments[{image!r}]")) for image, python in self.environments
        )
        return Programs(_located(self.python, "processes.python"), environments, self.container_engine)

    def python_of(self, image: str) -> str:
        """The Python that runs tasks of an image; the image itself is never looked at."""
        return next((python for pattern, python in self.environments if fnmatchcase(image, pattern)), self.python)


def _located(python: str, setting: str) -> str:
    """The absolute path of an interpreter; not resolved further, because a venv's Python is a link out of it."""
    if (found := shutil.which(python)) is None:
        raise BadInput(f"{setting} is {python!r}; there is no such program, so no task can be run")
    return os.path.abspath(found)
