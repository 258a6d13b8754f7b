"""`pyflyte package --copy all` puts the author's sources into the package: a task can run from them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from engine.model.errors import BadPackage
from engine.wire.code_archive import unpack_code

NAME = f"fast{'a' * 32}.tar.gz"


def sources(name: str = "mod.py", text: bytes = b"X = 1\n") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        info = tarfile.TarInfo(name)
        info.size = len(text)
        made.addfile(info, io.BytesIO(text))
    return buffer.getvalue()


def package(path: Path, data: bytes) -> Path:
    with tarfile.open(path, "w:gz") as made:
        info = tarfile.TarInfo(NAME)
        info.size = len(data)
        made.addfile(info, io.BytesIO(data))
    return path


def test_from_an_archive_and_from_a_folder(tmp_path: Path) -> None:
    found = unpack_code(package(tmp_path / "p.tgz", sources()), NAME, tmp_path / "code")
    assert (found.name, (found / "mod.py").read_text()) == (f"fast{'a' * 32}", "X = 1\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / NAME).write_bytes(sources())
    assert (unpack_code(folder, NAME, tmp_path / "other") / "mod.py").read_text() == "X = 1\n"


def test_what_is_there_already_is_used(tmp_path: Path) -> None:
    path = package(tmp_path / "p.tgz", sources())
    first = unpack_code(path, NAME, tmp_path / "code")
    path.unlink()
    assert unpack_code(path, NAME, tmp_path / "code") == first


@pytest.mark.parametrize(
    "data",
    [b"hello", sources()[:-20], sources("../out.py"), sources("/out.py")[:40]],
    ids=["no archive", "cut short", "above its folder", "an absolute path, cut short"],
)
def test_damaged_or_escaping_sources_leave_nothing_behind(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(BadPackage, match=f"{NAME}: the sources can't be unpacked"):
        unpack_code(package(tmp_path / "p.tgz", data), NAME, tmp_path / "code")
    assert list((tmp_path / "code").iterdir()) == []
    assert not (tmp_path / "out.py").exists()
