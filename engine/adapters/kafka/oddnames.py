"""Records whose headers have names that are no UTF-8: any client can write them, and this one stumbles over each.

Where it does, the batch is read once more by its slower, plain Python parser, which is told to put a sign in place of
what it can't read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, SupportsIndex

import aiokafka.consumer.fetcher
import aiokafka.record.memory_records
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.util import decode_varint_py


class _Forgiving(bytearray):
    """Bytes that become text whatever they are."""

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        found = super().__getitem__(place)
        return _Forgiving(found) if isinstance(found, bytearray) else found

    def decode(self, encoding: str = "utf-8", errors: str = "replace") -> str:
        return super().decode(encoding, "replace")


class _Batch(_DefaultRecordBatchPy):  # type: ignore[misc, unused-ignore]
    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer = _Forgiving(self._buffer)

    def _read_msg(self, decode_varint: Any = decode_varint_py) -> Any:
        # The compiled one takes no bytes but plain ones.
        return super()._read_msg(decode_varint_py)


fetcher: Any = aiokafka.consumer.fetcher
memory_records: Any = aiokafka.record.memory_records
_FAST = fetcher.MemoryRecords, memory_records.DefaultRecordBatch
_SLOW = memory_records._MemoryRecordsPy, _Batch
_inside: list[object] = []
"""One for each block that is entered."""


@contextmanager
def forgiving() -> Iterator[None]:
    """Batches that are fetched and read in this block, by whichever consumer, are read in that way."""
    _inside.append(None)
    fetcher.MemoryRecords, memory_records.DefaultRecordBatch = _SLOW
    try:
        yield
    finally:
        _inside.pop()
        if not _inside:
            fetcher.MemoryRecords, memory_records.DefaultRecordBatch = _FAST
