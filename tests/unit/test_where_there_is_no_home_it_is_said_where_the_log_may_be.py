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


@pytest.mark.parametrize("bootstrap", ["", "b:9092"])
def test_it_names_kafka(
    bootstrap: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if bootstrap:
        monkeypatch.setenv("PROPWASH_KAFKA__BOOTSTRAP", bootstrap)
    with pytest.raises(NoHome) as caught:
        connect_reader(tmp_path / "log.db")
    assert exit_code(caught.value, Context()) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"Error: there is no home at {tmp_path}: expected the log file {tmp_path}/log.db. If its")
    assert (f"(kafka.bootstrap = {bootstrap})" if bootstrap else "(kafka.bootstrap)") in told
    assert "`watch`" in told
    assert told.rstrip().endswith("take --kafka HOST:PORT")


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
