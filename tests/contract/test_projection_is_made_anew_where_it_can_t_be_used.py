from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.adapters.sqlite.projection_file import STALE_SECONDS
from engine.model.errors import LogFailed
from tests.contract.log_nouns import execution
from tests.contract.projected import Told, projection_in, update


async def made(folder: Path) -> Path:
    async with projection_in(folder, Told()) as projection:
        await projection.absorb(update([execution("a")], one=7))
    return folder / "projection.db"


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE about SET version = '0'")


def another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE about (day TEXT)")


@pytest.mark.parametrize(
    "accident",
    [damage, another_version, another_program, Path.unlink, lambda path: path.write_text("notes " * 99)],
    ids=["damaged", "another version", "another program", "deleted", "no database"],
)
async def test_a_file_that_can_t_be_used_is_replaced(tmp_path: Path, accident: Callable[[Path], object]) -> None:
    accident(await made(tmp_path))
    async with projection_in(tmp_path, Told()) as projection:
        assert projection.positions == {}
        assert await projection.executions() == []
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update([execution("b")], one=1))


@pytest.mark.parametrize(
    ("source", "age", "kept"), [("here", 1.0, 1), ("there", 1.0, 0), ("here", STALE_SECONDS + 1, 0)]
)
async def test_a_file_of_another_log_or_of_old_is_replaced(tmp_path: Path, source: str, age: float, kept: int) -> None:
    await made(tmp_path)
    async with projection_in(tmp_path, Told(now=age), source) as projection:
        assert len(projection.positions) == len(await projection.executions()) == kept


async def test_a_place_where_none_can_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LogFailed, match=r"the projection .*/file/projection\.db can't be opened: "):
        async with projection_in(tmp_path / "file", Told()):
            pass
