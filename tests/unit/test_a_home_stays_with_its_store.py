from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from anyio import to_thread

from config.load import SettingsError, load
from config.settings import Settings
from config.stores import S3, Store
from engine.adapters.s3.environment import task_environment
from engine.adapters.s3.options import S3Options
from engine.model.errors import BadInput
from engine.stores import STORE_FILE, STORE_FOLDER, Elsewhere, _choose, _remembered, look_at_store, open_store

URI = "s3://bucket/flyte"


def wanting(uri: str | None, **s3: str) -> Settings:
    return Settings(store=Store(uri=uri), s3=S3.model_validate(s3))


def remember(home: Path, place: Elsewhere) -> None:
    (home / STORE_FILE).write_bytes(msgspec.json.encode(place))


def test_a_new_home_keeps_its_values_itself_unless_told_otherwise(tmp_path: Path) -> None:
    assert _choose(tmp_path, wanting(None)) is None
    assert _choose(tmp_path, wanting(URI)) == Elsewhere(URI)
    assert _choose(tmp_path, wanting(f"{URI}/", endpoint="http://e", region="r", addressing="path")) == Elsewhere(
        URI, "http://e", "r", "path"
    )


def test_a_home_is_remembered_to_be_on_s3(tmp_path: Path) -> None:
    known = Elsewhere(URI, "http://e", "r", "virtual")
    remember(tmp_path, known)
    assert _remembered(tmp_path) == known
    assert _choose(tmp_path, wanting(None)) == known
    assert _choose(tmp_path, wanting(URI)) == known


def test_how_it_is_reached_may_change(tmp_path: Path) -> None:
    remember(tmp_path, Elsewhere(URI, "http://old", "r"))
    assert _choose(tmp_path, wanting(None, endpoint="http://new")) == Elsewhere(URI, "http://new", "r")


@pytest.mark.parametrize("other", ["s3://bucket/other", "s3://bucket", "s3://other/flyte"])
def test_another_store_is_refused(tmp_path: Path, other: str) -> None:
    remember(tmp_path, Elsewhere(URI))
    with pytest.raises(BadInput, match=f"keeps its values at {URI}, .* can't go on with {other}; leave the setting"):
        _choose(tmp_path, wanting(other))


def test_a_home_with_values_of_its_own_stays_so(tmp_path: Path) -> None:
    (tmp_path / STORE_FOLDER).mkdir()
    assert _choose(tmp_path, wanting(None)) is None
    with pytest.raises(BadInput, match=f"keeps its values at {tmp_path}/store, .* can't go on with {URI}"):
        _choose(tmp_path, wanting(URI))


async def test_values_may_be_in_a_folder_elsewhere(tmp_path: Path) -> None:
    home, uri = tmp_path / "home", f"file://{tmp_path}/shared"
    home.mkdir()
    async with open_store(home, wanting(uri)) as (blobs, environment):
        assert (blobs.uri("a"), environment) == (f"{uri}/a", {})
        await blobs.put(f"{uri}/a", b"1")
    assert not (home / STORE_FOLDER).exists()
    async with look_at_store(home) as blobs:
        assert await blobs.get(f"{uri}/a") == b"1"
    with pytest.raises(BadInput, match="keeps its values at file://"):
        await to_thread.run_sync(_choose, home, wanting(URI))


@pytest.mark.parametrize("uri", ["file:/x", "file://x/y", "file:///x/", "/x", "s3:/x"])
def test_what_is_no_uri_of_a_store_is_refused(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"store\.uri = .*s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER"):
        load(None, [f"store.uri={uri}"], {})


def test_a_file_that_can_t_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_text("{")
    with pytest.raises(BadInput, match=f"{STORE_FILE} can't be read"):
        _choose(tmp_path, wanting(None))


def test_tasks_are_told_how_to_reach_it_and_no_secrets() -> None:
    assert task_environment(S3Options()) == {}
    assert task_environment(S3Options("http://e:9", "eu-1", addressing="virtual")) == {
        "FLYTE_AWS_ENDPOINT": "http://e:9",
        "AWS_DEFAULT_REGION": "eu-1",
        "FLYTE_AWS_ADDRESSING_STYLE": "virtual",
    }
