from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.model.errors import BadInput
from tests.contract.blob_adapters import listed


@pytest.mark.parametrize("name", ["my files", "Zoë 漢字", "100%25", "a#b", "it's", "co:lon", "~me", "{x}"])
async def test_spaces_and_letters_of_any_script_stand_in_the_uri_as_they_are(tmp_path: Path, name: str) -> None:
    async with FileBlobs.open(tmp_path / name / "store") as files:
        uri = files.uri("a/b")
        assert uri == f"file://{tmp_path}/{name}/store/a/b"
        await files.put(uri, b"x")
        assert (tmp_path / name / "store" / "a" / "b").read_bytes() == b"x"
        assert await listed(files, files.uri("a")) == [uri]


@pytest.mark.parametrize(
    ("name", "why"), [("a::b", "'::'"), ("a*", "'*'"), ("what?", "'?'"), ("x[1]", "'['"), ("a\udcff", "UTF-8")]
)
async def test_a_path_that_flytekit_would_misread_is_refused(tmp_path: Path, name: str, why: str) -> None:
    root = tmp_path / name / "store"
    with pytest.raises(BadInput) as caught:
        async with FileBlobs.open(root):
            pass
    assert repr(str(root)) in str(caught.value)
    assert why in str(caught.value)
    assert not root.exists()


async def test_the_root_of_the_machine_is_refused() -> None:
    with pytest.raises(BadInput, match="'/'"):
        async with FileBlobs.open("/"):
            pass


async def test_a_relative_root_means_where_the_engine_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with FileBlobs.open("store/../other") as files:
        assert files.uri("a") == f"file://{os.fspath(tmp_path)}/other/a"
