"""A task writes into its own folder what it likes, links included; they must not lead the engine out of the store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.model.errors import StoreRefused
from tests.contract.blob_adapters import listed, root_uri


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the store, with a file `secret`."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    return folder


@pytest.fixture
def task_folder(files: FileBlobs, tmp_path: Path) -> Path:
    folder = tmp_path / "store" / "n0" / "0"
    folder.mkdir(parents=True)
    return folder


def intact(outside: Path) -> bool:
    return [path.name for path in outside.iterdir()] == ["secret"] and (outside / "secret").read_bytes() == b"secret"


async def test_a_link_is_never_read(files: FileBlobs, outside: Path, task_folder: Path) -> None:
    (task_folder / "outputs.pb").symlink_to(outside / "secret")
    uri = files.uri("n0/0/outputs.pb")
    for call in (files.get(uri), files.size(uri), files.get_many([uri])):
        with pytest.raises(StoreRefused) as caught:
            await call
        assert uri in str(caught.value)
        assert f"{task_folder}/outputs.pb is a link" in str(caught.value)


@pytest.mark.parametrize("inside", [False, True], ids=["to the outside", "to another folder of the store"])
async def test_no_call_goes_through_a_linked_folder(
    files: FileBlobs, outside: Path, task_folder: Path, inside: bool
) -> None:
    target = outside
    if inside:
        target = task_folder.parent / "1"
        target.mkdir()
        (target / "secret").write_bytes(b"secret")
    (task_folder / "sub").symlink_to(target)
    for key in ("n0/0/sub/secret", "n0/0/sub/deep/new"):
        uri = files.uri(key)
        for call in (files.get(uri), files.size(uri), files.put(uri, b"x"), write(files, uri), files.delete(uri)):
            with pytest.raises(StoreRefused) as caught:
                await call
            assert uri in str(caught.value)
            assert f"{task_folder}/sub is a link" in str(caught.value)
    with pytest.raises(StoreRefused):
        await listed(files, files.uri("n0/0/sub"))
    assert intact(target)


async def test_a_link_laid_between_two_calls_is_seen(files: FileBlobs, outside: Path, task_folder: Path) -> None:
    uri = files.uri("n0/0/secret")
    await files.put(uri, b"x")
    swap_for_link(task_folder, outside)
    with pytest.raises(StoreRefused):
        await files.put(uri, b"x")
    with pytest.raises(StoreRefused):
        await files.get(uri)
    assert intact(outside)


async def test_a_link_is_replaced_by_an_object_and_its_target_stays(
    files: FileBlobs, outside: Path, task_folder: Path
) -> None:
    (task_folder / "outputs.pb").symlink_to(outside / "secret")
    await files.put(files.uri("n0/0/outputs.pb"), b"new")
    assert await files.get(files.uri("n0/0/outputs.pb")) == b"new"
    assert intact(outside)


async def test_links_are_not_listed(files: FileBlobs, outside: Path, task_folder: Path) -> None:
    (task_folder / "file").symlink_to(outside / "secret")
    (task_folder / "folder").symlink_to(outside)
    (task_folder / "loop").symlink_to(task_folder)
    (task_folder / "real").write_bytes(b"x")
    assert await listed(files, root_uri(files)) == [files.uri("n0/0/real")]


async def test_deleting_removes_links_and_leaves_their_targets(
    files: FileBlobs, outside: Path, task_folder: Path
) -> None:
    for name, target in (("file", outside / "secret"), ("folder", outside), ("loop", task_folder), ("broken", "none")):
        (task_folder / name).symlink_to(target)
    await files.delete(files.uri("n0/0/file"))
    await files.delete(files.uri("n0/0/folder"))
    await files.delete(files.uri("n0"))
    assert not task_folder.parent.exists()
    assert intact(outside)


async def test_a_pipe_is_refused_and_holds_nobody_up(files: FileBlobs, task_folder: Path) -> None:
    os.mkfifo(task_folder / "outputs.pb")
    with pytest.raises(StoreRefused, match="not a plain file"):
        await files.get(files.uri("n0/0/outputs.pb"))
    assert await listed(files, root_uri(files)) == []


async def test_a_store_behind_a_link_works_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    async with FileBlobs.open(tmp_path / "link" / "store") as files:
        assert files.uri("a") == f"file://{tmp_path}/real/store/a"
        for number, root in enumerate(("real", "link")):
            for scheme in ("file://", ""):
                uri = f"{scheme}{tmp_path}/{root}/store/a"
                await files.put(uri, b"%d" % number)
                assert await files.get(files.uri("a")) == b"%d" % number
                assert await listed(files, f"{scheme}{tmp_path}/{root}/store") == [files.uri("a")]


def swap_for_link(folder: Path, target: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(target)


async def write(files: FileBlobs, uri: str) -> None:
    async with files.writer(uri) as writer:
        await writer.write(b"x")
