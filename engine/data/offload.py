"""When a value is stored beside the outputs, and what then stands in its place.

Sizes are bytes of the serialized `Literal`, never rounded.
"""

from __future__ import annotations

from engine.data.references import INDEX_SUFFIX, OFFLOADED_SUFFIX
from engine.machine.judge import too_large
from engine.model.errors import Permanent
from engine.model.limits import OffloadLimits


def is_offloaded(limits: OffloadLimits, variable: str, size_bytes: int) -> bool:
    """Whether a literal of this size becomes a reference. Raises Permanent (USER) where it is too large even so."""
    if not limits.enabled:
        return False
    if size_bytes >= limits.max_size:
        raise Permanent(too_large(variable, size_bytes, limits.max_size))
    return size_bytes >= limits.min_size


def value_name(variable: str) -> str:
    """The file, below an attempt's prefix, that holds the serialized `Literal` of an offloaded output."""
    return f"{variable}{OFFLOADED_SUFFIX}"


def index_name(variable: str) -> str:
    """The file beside it that says where each item of a list starts."""
    return f"{variable}{INDEX_SUFFIX}"
