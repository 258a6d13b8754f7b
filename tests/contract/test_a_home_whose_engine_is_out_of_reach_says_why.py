from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from config.settings import Settings
from engine import reach
from engine.adapters.control.place import SOCKET
from engine.adapters.sqlite.home import HomeLock
from engine.model.errors import HomeInUse


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Held by an engine, and commands do not wait for it."""
    monkeypatch.setattr(reach, "WAITS", (0.0,))
    lock = HomeLock(tmp_path)
    yield tmp_path
    lock.release()


async def refusal(home: Path) -> str:
    with pytest.raises(HomeInUse) as caught:
        await reach.send(home, Settings(), [])
    prefix = f"home {home} is in use by process {os.getpid()}; stop it or use another home; nothing was started. "
    assert str(caught.value).startswith(prefix)
    return str(caught.value).removeprefix(prefix)


async def test_its_socket_is_gone(home: Path) -> None:
    assert await refusal(home) == (
        f"That process can't be reached: its socket {home / SOCKET} is gone or could not be made; "
        "once it is started again, its executions go on"
    )


def test_its_socket_is_there_and_nobody_listens(home: Path) -> None:
    (home / SOCKET).touch()
    assert anyio.run(refusal, home) == "That process can't be reached: it does not answer its socket"
