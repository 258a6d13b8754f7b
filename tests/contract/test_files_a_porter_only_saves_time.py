"""Many small things at once are done by another process; whatever becomes of it, they are done."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.adapters.files import errands
from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.porter import Group, Porter
from engine.model.errors import Defect, StoreRefused
from tests.contract.blob_adapters import every_call_is_carried


def pid_of(porter: Porter) -> int:
    assert porter._process is not None
    return porter._process.pid


def taken(porter: Porter, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the groups that it took."""
    groups: list[int] = []
    take = porter.take

    def counting(group: Group, otherwise: Callable[[Group], None]) -> bool:
        done = take(group, otherwise)
        groups.extend([len(group)] if done else [])
        return done

    monkeypatch.setattr(porter, "take", counting)
    return groups


async def put_all(files: FileBlobs, count: int) -> list[str]:
    uris = [files.uri(f"{number % 7}/{number}") for number in range(count)]
    await asyncio.gather(*(files.put(uri, uri.encode()) for uri in uris))
    return uris


async def test_many_calls_of_one_tick_go_to_it_and_few_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        porter = files._small.porter
        assert porter is not None
        await porter.start()
        groups = taken(porter, monkeypatch)
        await put_all(files, errands.MANY - 1)
        assert groups == []
        uris = await put_all(files, 600)
        assert groups == [errands.PORTION] * 9 + [600 - 9 * errands.PORTION]
        assert await asyncio.gather(*(files.get(uri) for uri in uris)) == [uri.encode() for uri in uris]
        assert sum(groups) == 1200


async def test_it_is_started_when_there_is_much_to_do_and_nobody_waits_for_it(tmp_path: Path) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        porter = files._small.porter
        assert porter is not None
        await put_all(files, errands.MANY - 1)
        assert porter._start is None
        await put_all(files, errands.MANY)
        assert porter._start is not None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_when_it_dies_the_thread_does_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        porter = await every_call_is_carried(files, monkeypatch)
        pid = pid_of(porter)
        if number is signal.SIGSTOP:
            # It takes what it is given, does nothing of it, and then dies.
            signal_now(pid, signal.SIGSTOP)
            asyncio.get_running_loop().call_later(0.1, signal_now, pid, signal.SIGKILL)
        else:
            signal_now(pid, signal.SIGKILL)
        uris = await put_all(files, 600)
        assert await asyncio.gather(*(files.get(uri) for uri in uris)) == [uri.encode() for uri in uris]


async def test_what_it_can_t_do_is_an_error_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FileBlobs.open(tmp_path / "store", porter=True) as files:
        await every_call_is_carried(files, monkeypatch)
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "store" / "a").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(StoreRefused, match="/a is a link, and the store follows none"):
            await files.put(files.uri("a/b"), b"x")
        assert await files.get_many([files.uri("b")]) == [None]


async def test_what_is_large_is_read_by_the_engine_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        await every_call_is_carried(files, monkeypatch)
        large = bytes(range(256)) * 2000
        uri = files.uri("a")
        await files.put(uri, large)
        assert await files.get(uri) == large
        assert await files.get_many([uri], end=300_000) == [large[:300_000]]


async def test_closing_the_store_finishes_what_was_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        porter = await every_call_is_carried(files, monkeypatch)
        signal_now(pid_of(porter), signal.SIGSTOP)
        calls = [asyncio.ensure_future(files.put(files.uri(str(number)), b"x")) for number in range(100)]
        await asyncio.sleep(0)
        signal_now(pid_of(porter), signal.SIGCONT)
    await asyncio.gather(*calls)
    assert len(os.listdir(tmp_path)) == 100
    with pytest.raises(Defect, match="after it was closed"):
        await files.put(files.uri("late"), b"x")


async def test_it_ends_with_its_store_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FileBlobs.open(tmp_path, porter=True) as files:
        porter = await every_call_is_carried(files, monkeypatch)
        await files.put(files.uri("a/b"), b"x")
        process = porter._process
    assert process is not None
    assert process.returncode == 0
    assert os.listdir(tmp_path) == ["a"]


def signal_now(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)
