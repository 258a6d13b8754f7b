"""Where there is no home, the message says where the log may be instead, and what works there."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from config.load import load
from config.settings import Settings
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.s3.blobs import S3Blobs
from engine.adapters.s3.options import S3Options
from engine.adapters.sqlite.schema import connect_reader
from engine.cli.verdict import Context, exit_code
from engine.model.errors import BadInput, NoHome
from engine.stores import STORE_FILE, look_at_store


@pytest.fixture(autouse=True)
def _no_services_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests before this one may have started some; their addresses are no settings."""
    for name in [name for name in os.environ if name.startswith("PROPWASH_")]:
        monkeypatch.delenv(name)


def _told(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Behind what is the same in every case."""
    with pytest.raises(NoHome) as caught:
        connect_reader(folder / "log.db")
    assert exit_code(caught.value, Context()) == 2
    told = capsys.readouterr().err.rstrip()
    begin = f"Error: there is no home at {folder}: expected the log file {folder}/log.db. "
    assert told.startswith(begin)
    return told.removeprefix(begin)


def test_an_author_in_the_wrong_folder_is_told_where_homes_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _told(tmp_path, capsys) == (
        "A home is made in the folder where `propwash run` or `serve` is called: go there, or name it with --home "
        "(engines on Kafka: --kafka HOST:PORT)"
    )


def test_where_the_settings_say_kafka_it_is_said_what_works_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPWASH_KAFKA__BOOTSTRAP", "b:9092")
    told = _told(tmp_path, capsys)
    assert told.startswith("If its engines work on Kafka (kafka.bootstrap = b:9092), their log is there")
    assert "`watch`" in told
    assert told.endswith("take --kafka HOST:PORT")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Beside a home whose values are on S3."""
    (tmp_path / STORE_FILE).write_text('{"uri": "s3://bucket/x"}')
    return load(None, ["s3.read_seconds=1.5"], {})


async def test_a_look_at_s3_is_as_the_settings_say(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[S3Options] = []

    @asynccontextmanager
    async def opened(uri: str, options: S3Options) -> AsyncIterator[MemoryBlobs]:
        asked.append(options)
        yield MemoryBlobs()

    monkeypatch.setattr(S3Blobs, "open", opened)
    async with look_at_store(tmp_path, settings):
        pass
    monkeypatch.setenv("PROPWASH_S3__READ_SECONDS", "2.5")
    async with look_at_store(tmp_path):
        pass
    assert [options.read_seconds for options in asked] == [1.5, 2.5]
    monkeypatch.setenv("PROPWASH_S3__READ_SECONDS", "soon")
    with pytest.raises(BadInput, match=r"s3\.read_seconds"):
        async with look_at_store(tmp_path):
            pass
