from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import BadInput, HomeInUse
from tests.contract.log_nouns import submitted, take


async def test_a_second_engine_is_refused_naming_the_home_and_the_holder(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path / "home"):
        with pytest.raises(HomeInUse) as caught:
            async with SqliteLog.open(tmp_path / "home"):
                pass
    assert str(caught.value) == (
        f"home {tmp_path / 'home'} is in use by process {os.getpid()}; stop it or use another home; nothing was started"
    )


async def test_the_home_is_free_when_the_first_one_has_gone(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path) as log:
        await log.append([submitted("a")], durable=True)
    async with SqliteLog.open(tmp_path) as log:
        assert await take(log) == [submitted("a")]


async def test_an_error_in_the_block_frees_the_home_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with SqliteLog.open(tmp_path):
            raise ZeroDivisionError
    async with SqliteLog.open(tmp_path):
        pass


async def test_a_log_that_cannot_be_opened_does_not_keep_the_home(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_text("no database")
    with pytest.raises(BadInput):
        async with SqliteLog.open(tmp_path):
            pass
    (tmp_path / "log.db").unlink()
    async with SqliteLog.open(tmp_path):
        pass
