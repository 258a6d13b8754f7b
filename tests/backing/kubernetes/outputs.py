"""What a played task leaves in a store of local files: its outputs, as the engine's own scripts write them."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from engine.adapters.memory.scripts import item, literal_map, literals
from tests.backing.kubernetes.specs import Container


def copy_inputs(container: Container) -> None:
    """Output `o0` is the first input; of an element of a map, the item of its list."""
    words = [*container.command, *container.args]
    inputs = literals(_place(words[words.index("--inputs") + 1]).read_bytes())
    first = next(iter(inputs.values()))
    if any(each.name == "BATCH_JOB_ARRAY_INDEX_VAR_NAME" for each in container.env):
        first = item(first)
    target = _place(words[words.index("--output-prefix") + 1]) / "outputs.pb"
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_bytes(literal_map({"o0": first}))
    os.rename(unfinished, target)


def _place(uri: str) -> Path:
    return Path(urlsplit(uri).path)
