"""`serve --workers`: what is wrong from the beginning is told at once; what an ending worker may hold is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from config.load import load
from engine.cli import workers
from engine.cli.workers import supervise
from engine.model.errors import BadInput

pytestmark = [pytest.mark.looptime]


async def starts(codes: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a worker that ends with these codes is started, until it is given up."""
    lives = iter(codes)
    count = 0

    async def run(command: Sequence[str], patience: float) -> int:
        nonlocal count
        count += 1
        return next(lives)

    monkeypatch.setattr(workers, "_run", run)
    with pytest.raises(BadInput, match="worker 1 can't be started"):
        await workers._keep(1, ["serve"], 1.0)
    return count


async def test_the_first_start_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    began = anyio.current_time()
    assert await starts([2, 2, 2, 2, 2, 2, 2], monkeypatch) == 1
    assert anyio.current_time() == began


async def test_one_that_has_worked_may_wait_for_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await starts([-9, 2, 2, 2, 2, 2, 2], monkeypatch) == 7


def test_the_ports_of_all_must_be_ports(tmp_path: Path) -> None:
    sets = ["kafka.bootstrap=b:9092", f"store.uri=file://{tmp_path}/s", "http.listen=127.0.0.1:65534"]
    with pytest.raises(
        BadInput, match=r"127\.0\.0\.1:65534: 4 workers need the ports 65534 to 65537, .*:65532 or below"
    ):
        supervise(tmp_path, load(None, sets, {}), 4, [])
