"""A task that does nothing: like the process of a real one it writes its outputs into its folder by itself.

No engine has a part in that, so it takes none of the engine's threads here either.
"""

from __future__ import annotations

import os

from engine.adapters.files.names import SCHEME
from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import SUCCESS
from engine.ports.taskrunner import Exit, TaskRequest

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def writes(outputs: bytes) -> Script:
    """These outputs (a serialized `LiteralMap`), for a store of local files."""

    def play(request: TaskRequest) -> Exit:
        folder = request.prefix_uri.removeprefix(SCHEME)
        path = f"{folder}/outputs.pb"
        try:
            descriptor = os.open(path, _NEW)
        except FileNotFoundError:
            os.makedirs(folder)
            descriptor = os.open(path, _NEW)
        os.write(descriptor, outputs)
        os.close(descriptor)
        return SUCCESS

    return play
