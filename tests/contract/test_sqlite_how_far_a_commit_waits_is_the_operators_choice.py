from __future__ import annotations

from pathlib import Path

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.adapters.sqlite.schema import Synchronous


@pytest.mark.parametrize(("synchronous", "number"), [(Synchronous.FULL, 2), (Synchronous.NORMAL, 1)])
async def test_sqlite_is_told_so(tmp_path: Path, synchronous: Synchronous, number: int) -> None:
    async with SqliteLog.open(tmp_path, synchronous=synchronous) as log:
        connection = log._writer._connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (number,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
