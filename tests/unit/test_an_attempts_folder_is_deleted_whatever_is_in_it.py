from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.adapters.processes import place


def test_links_are_deleted_and_what_they_lead_to_is_not(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link").symlink_to(outside)
    place.remove(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert outside.stat().st_mode & 0o777 == 0o500


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    place.remove(tmp_path / "a")


def test_folders_that_their_owner_may_not_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root nothing is forbidden, so the first try is made to fail; the second needs the rights it gave itself."""
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (tmp_path / "a" / "b").chmod(0)
    seen: list[int] = []
    delete = shutil.rmtree

    def rmtree(path: Path, ignore_errors: bool = False) -> None:
        seen.append((tmp_path / "a" / "b").stat().st_mode & 0o777)
        if not ignore_errors:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        delete(path)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    place.remove(tmp_path / "a")
    assert seen == [0, 0o700]
    assert list(tmp_path.iterdir()) == []


def test_folders_nested_deeper_than_a_path_may_be_long(tmp_path: Path) -> None:
    """Each new top goes around the ones before, so no path is ever long."""
    (tmp_path / "0").mkdir()
    for depth in range(1, 1500):
        outer = tmp_path / str(depth)
        outer.mkdir()
        os.rename(tmp_path / str(depth - 1), outer / ("x" * 20))
    place.remove(tmp_path / "1499")
    assert list(tmp_path.iterdir()) == []
