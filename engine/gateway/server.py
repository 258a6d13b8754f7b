"""The HTTP server of `propwash serve`: it answers from before the restore until the engine is gone.

aiohttp serves, because the S3 client brings it along already.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from aiohttp import web
from anyio import to_thread

from engine.gateway.metrics import Metrics
from engine.gateway.probes import Probes
from engine.model.errors import BadInput

if TYPE_CHECKING:
    from config.settings import Http

SHUTDOWN_SECONDS = 1.0
"""The most that requests which are under way may take when the service stops."""
LAG_SECONDS = 1.0
"""Between two looks at how late the event loop is."""


@dataclass(frozen=True, slots=True)
class Gateway:
    metrics: Metrics
    probes: Probes
    address: str
    """HOST:PORT where it really listens."""


@asynccontextmanager
async def answering(settings: Http, listen: str) -> AsyncIterator[Gateway]:
    """Answer HTTP at HOST:PORT while the block is entered. Raises BadInput where that can't be had."""
    metrics = Metrics()
    await to_thread.run_sync(metrics.tell_of_process)
    probes = Probes(metrics, settings.stalled_seconds)
    app = web.Application()
    probes.add_to(app)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        address = await _listen(runner, listen)
        async with anyio.create_task_group() as group:
            group.start_soon(_watch_lag, metrics)
            yield Gateway(metrics, probes, address)
            group.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(2 * SHUTDOWN_SECONDS, shield=True):
            await runner.cleanup()


async def _listen(runner: web.AppRunner, listen: str) -> str:
    host, _, port = listen.rpartition(":")
    try:
        await web.TCPSite(runner, host.strip("[]"), int(port)).start()
    except OSError as error:
        # gaierror among them
        reason = error.strerror or error
        raise BadInput(f"http.listen: can't listen at {listen}: {reason}; nothing was started") from error
    return f"{host}:{runner.addresses[0][1]}"


async def _watch_lag(metrics: Metrics) -> None:
    while True:
        due = anyio.current_time() + LAG_SECONDS
        await anyio.sleep_until(due)
        metrics.lag.observe(max(anyio.current_time() - due, 0.0))
