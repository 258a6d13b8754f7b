"""What `pyflyte package` wrote may have been cut, corrupted or forged on its way."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.model.errors import BadPackage
from engine.wire import archive
from engine.wire.archive import read_package
from engine.wire.registration import register
from tests.packages import node, task, workflow

TASK = task("m.t").SerializeToString()
FLOW = workflow("m.w", node("n0")).SerializeToString()


def tgz(path: Path, members: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(BadPackage) as caught:
        register(read_package(path), project="p", domain="d")
    assert str(path) in str(caught.value)
    return list(caught.value.problems)


def test_flat_and_nested_archives_and_folders_are_the_same(tmp_path: Path) -> None:
    flat = tgz(tmp_path / "flat.tgz", {"0_m.t_1.pb": TASK, "1_m.w_2.pb": FLOW})
    nested = tgz(tmp_path / "nested.tgz", {"a/0_m.t_1.pb": TASK, "a/b/1_m.w_2.pb": FLOW, "a/README": b"hello"})
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "0_m.t_1.pb").write_bytes(TASK)
    (folder / "deep" / "1_m.w_2.pb").write_bytes(FLOW)
    digests = {register(read_package(path), project="p", domain="d").digest for path in (flat, nested, folder)}
    assert len(digests) == 1


def test_names_may_hold_dots_and_underscores(tmp_path: Path) -> None:
    path = tgz(tmp_path / "p.tgz", {"0_a_2.pb_b-c.d_1.pb": TASK})
    assert len(register(read_package(path), project="p", domain="d").tasks) == 1


def test_a_missing_file(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.tgz") == ["there is no such file or folder"]


def test_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "notes.tgz").write_text("hello")
    (problem,) = problems(tmp_path / "notes.tgz")
    assert problem.startswith("it is no archive, or a damaged one; expected a .py file, a .tgz of `pyflyte package`")


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_an_archive_that_was_cut_off(tmp_path: Path, keep: float) -> None:
    path = tgz(tmp_path / "p.tgz", {f"{i}_m.t_1.pb": task(f"m.t{i}").SerializeToString() for i in range(50)})
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    (problem,) = problems(path)
    assert "damaged" in problem


def test_an_archive_with_a_flipped_byte(tmp_path: Path) -> None:
    path = tgz(tmp_path / "p.tgz", {f"{i}_m.t_1.pb": task(f"m.t{i}").SerializeToString() for i in range(50)})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert problems(path)


def test_an_empty_package(tmp_path: Path) -> None:
    assert problems(tgz(tmp_path / "p.tgz", {"README": b""})) == ["no task, workflow or launch plan in it"]


def test_every_damaged_entity_is_named(tmp_path: Path) -> None:
    path = tgz(
        tmp_path / "p.tgz",
        {"0_m.t_1.pb": TASK[:-3], "1_m.w_2.pb": b"hello", "2_e_3.pb": b"", "3_x.pb": TASK, "4_x_9.pb": TASK},
    )
    suffix = "expected a name that ends in _1.pb (task), _2.pb (workflow) or _3.pb (launch plan)"
    assert problems(path) == [
        f"0_m.t_1.pb: its {len(TASK) - 3} bytes are no serialized task: damaged or cut off",
        "1_m.w_2.pb: its 5 bytes are no serialized workflow: damaged or cut off",
        "2_e_3.pb: the launch plan in it has no name: damaged or cut off (0 bytes)",
        f"3_x.pb: {suffix}",
        f"4_x_9.pb: {suffix}",
    ]


@pytest.mark.parametrize("name", ["../0_m.t_1.pb", "/etc/0_m.t_1.pb", "a/../../0_m.t_1.pb"])
def test_names_that_lead_out_of_the_package(tmp_path: Path, name: str) -> None:
    assert problems(tgz(tmp_path / "p.tgz", {name: TASK})) == [f"{name}: its name leads out of the package"]


def test_links_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.tgz"
    with tarfile.open(path, "w:gz") as made:
        link = tarfile.TarInfo("0_m.t_1.pb")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    assert problems(path) == ["0_m.t_1.pb: it is no regular file (a link, a device)"]


def test_members_are_measured_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 100)
    assert problems(tgz(tmp_path / "p.tgz", {"0_m.t_1.pb": bytes(101)})) == [
        "0_m.t_1.pb: it has 101 bytes; at most 100 are read"
    ]
    monkeypatch.setattr(archive, "MAX_PACKAGE_BYTES", 150)
    assert problems(tgz(tmp_path / "q.tgz", {"0_m.t_1.pb": bytes(99), "1_m.t_1.pb": bytes(99)})) == [
        "1_m.t_1.pb: the entities have more than 150 bytes in all"
    ]
    monkeypatch.setattr(archive, "MAX_FILES", 2)
    assert problems(tgz(tmp_path / "r.tgz", {"a": b"", "b": b"", "c": b""})) == ["it has more than 2 files"]


def test_the_sources_of_a_fast_registered_package_are_noted(tmp_path: Path) -> None:
    name = f"fast{'0' * 32}.tar.gz"
    found = read_package(tgz(tmp_path / "p.tgz", {"0_m.t_1.pb": TASK, name: b"..."}))
    assert (list(found.files), found.code_archive) == (["0_m.t_1.pb"], name)
