from __future__ import annotations

import os
from pathlib import Path

import pytest

from config.settings import Settings
from engine import reach
from engine.adapters.control.place import SOCKET
from engine.adapters.sqlite.home import HomeLock
from engine.model.errors import HomeInUse


async def refusal(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(reach, "WAITS", (0.0,))
    lock = HomeLock(home)
    try:
        with pytest.raises(HomeInUse) as caught:
            await reach.send(home, Settings(), [])
    finally:
        lock.release()
    prefix = f"home {home} is in use by process {os.getpid()}; stop it or use another home; nothing was started. "
    assert str(caught.value).startswith(prefix)
    return str(caught.value).removeprefix(prefix)


async def test_its_socket_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await refusal(tmp_path, monkeypatch) == (
        f"That process can't be reached: its socket {tmp_path / SOCKET} is gone or could not be made; "
        "once it is started again, its executions go on"
    )


async def test_its_socket_is_there_and_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / SOCKET).touch()
    assert await refusal(tmp_path, monkeypatch) == "That process can't be reached: it does not answer its socket"
