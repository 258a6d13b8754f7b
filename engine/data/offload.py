"""When a value is stored beside the outputs, and what then stands in its place.

Sizes are bytes of the serialized `Literal`, never rounded.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from anyio import to_thread

from engine.data.framing import Data
from engine.data.references import INDEX_SUFFIX, OFFLOADED_SUFFIX
from engine.machine.judge import too_large
from engine.model.errors import Permanent
from engine.model.limits import OffloadLimits

WORTH_A_THREAD = 128 * 1024
"""Bytes that take longer to hash than a call of a thread takes."""


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


class ContentHash:
    """SHA-256 over the bytes as they are stored, in base64url without padding."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    async def update(self, pieces: Sequence[Data]) -> None:
        """Add these bytes. Much of them is hashed in a thread, so that the writing goes on meanwhile."""
        if sum(map(len, pieces)) < WORTH_A_THREAD:
            self._add(pieces)
        else:
            await to_thread.run_sync(self._add, pieces)

    def _add(self, pieces: Sequence[Data]) -> None:
        for piece in pieces:
            self._state.update(piece)

    def text(self) -> str:
        return base64.urlsafe_b64encode(self._state.digest()).rstrip(b"=").decode()
