"""Names, labels and annotations of pods: they follow from the attempt key, so that an attempt has one pod."""

from __future__ import annotations

import re
from typing import Any

from msgspec import json

from engine.model.ids import AttemptKey, label

Json = dict[str, Any]
"""A Kubernetes object, or a part of one."""

KEY = "propwash.dev/attempt"
"""The annotation with the whole attempt key; names and labels may be cut."""
GROUP = "propwash.dev/group"
"""The label with the engine, or the group of engines, that a pod belongs to."""
UPLOADS = "propwash.dev/uploads"
"""The annotation of a pod whose outputs are stored after its task has ended."""
FINALIZER = "propwash.dev/kept-for-its-verdict"
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?\Z")
_READABLE = 30


def pod_name(key: AttemptKey) -> str:
    """A DNS label of at most 63 characters: readable in front, 128 bits of the whole key behind."""
    element = () if key.index is None else (str(key.node_attempt), str(key.index))
    plain = "-".join((key.execution.name, key.path, *element, str(key.attempt))).lower()
    readable = re.sub(r"[^a-z0-9]+", "-", plain)[:_READABLE].strip("-")
    return f"{readable}-{key.digest()}"


def literal(word: str) -> str:
    """In a command, of which Kubernetes makes that word."""
    return word.replace("$", "$$")


def label_value(text: str) -> str:
    """The text itself where it may be a label's value, else a short name for it."""
    return text if _VALUE.match(text) else label(text)


def written(key: AttemptKey) -> str:
    return json.encode(key).decode()


def read_key(text: str) -> AttemptKey | None:
    """None for what no engine has written."""
    try:
        return json.decode(text, type=AttemptKey)
    except (ValueError, TypeError):
        return None
