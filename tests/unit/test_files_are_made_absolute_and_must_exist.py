from __future__ import annotations

from pathlib import Path

import pytest
from flyteidl.core.types_pb2 import BlobType, LiteralType

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from tests.literal_types import DATASET, DIRECTORY, FILE, list_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data.csv").write_text("1")
    (tmp_path / "images").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_relative_path_is_made_absolute(folder: Path) -> None:
    blob = to_literal("data.csv", FILE, "--f").scalar.blob
    assert blob.uri == str(folder / "data.csv")
    assert blob.metadata.type.dimensionality == BlobType.SINGLE


def test_the_format_comes_from_the_type(folder: Path) -> None:
    declared = LiteralType(blob=BlobType(format="csv"))
    assert to_literal("data.csv", declared, "--f").scalar.blob.metadata.type.format == "csv"


def test_a_directory_is_multipart(folder: Path) -> None:
    blob = to_literal("images", DIRECTORY, "--d").scalar.blob
    assert (blob.uri, blob.metadata.type.dimensionality) == (str(folder / "images"), BlobType.MULTIPART)


def test_a_remote_uri_is_passed_on_unseen() -> None:
    assert to_literal("s3://bucket/key", FILE, "--f").scalar.blob.uri == "s3://bucket/key"
    assert to_literal("gs://bucket/dir", DATASET, "--d").scalar.structured_dataset.uri == "gs://bucket/dir"


def test_a_file_uri_is_a_local_path(folder: Path) -> None:
    assert to_literal(f"file://{folder}/data.csv", FILE, "--f").scalar.blob.uri == str(folder / "data.csv")


def test_files_in_a_list(folder: Path) -> None:
    literal = to_literal('["data.csv", "s3://b/k"]', list_of(FILE), "--fs")
    assert [item.scalar.blob.uri for item in literal.collection.literals] == [str(folder / "data.csv"), "s3://b/k"]


@pytest.mark.parametrize(
    ("value", "declared", "reason"),
    [
        ("gone", FILE, "no such file: {folder}/gone"),
        ("images", FILE, "not a file: {folder}/images"),
        ("data.csv", DIRECTORY, "not a directory: {folder}/data.csv"),
        ("gone", DATASET, "no such file or directory: {folder}/gone"),
        ("file:///gone", FILE, "no such file: /gone"),
        ("", FILE, "empty"),
        ("a\0b", FILE, "no such file: "),
    ],
)
def test_what_is_not_there_is_refused(folder: Path, value: str, declared: LiteralType, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        to_literal(value, declared, "--f")
    assert reason.format(folder=folder) in str(caught.value)
