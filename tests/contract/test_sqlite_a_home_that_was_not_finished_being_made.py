from __future__ import annotations

from pathlib import Path

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import BadInput
from tests.contract.log_nouns import execution, submitted


async def test_a_home_whose_first_engine_ended_too_early_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "log.db").touch()
    with pytest.raises(BadInput, match=r"there is no home at .* yet: its first engine ended while it made the log"):
        async with SqliteLog.open_readonly(tmp_path):
            pass
    async with SqliteLog.open(tmp_path) as log:
        await log.append([submitted("e1")], durable=True)
    async with SqliteLog.open_readonly(tmp_path) as reader:
        assert await reader.find([execution("e1").id]) == {}
