"""The HTTP server of `propwash serve`: it answers from before the restore until the engine is gone.

aiohttp serves, because the S3 client brings it along already.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from aiohttp import web
from anyio import to_thread

from engine.gateway.access import token_for
from engine.gateway.api import Api
from engine.gateway.guard import Guard, Refuse, answer
from engine.gateway.metrics import VERSION, Metrics
from engine.gateway.openapi import openapi
from engine.gateway.operations import ROOT
from engine.gateway.probes import Probes
from engine.gateway.service import Service
from engine.model.errors import BadInput

if TYPE_CHECKING:
    from config.settings import Settings

SHUTDOWN_SECONDS = 1.0
"""The most that requests which are under way may take when the service stops."""
LAG_SECONDS = 1.0
"""Between two looks at how late the event loop is."""


class Gateway:
    """What is served, before there is anything to ask and while there is."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.metrics = metrics
        self.address = ""
        """HOST:PORT where it really listens."""
        self._probes = Probes(self.metrics, settings.http.stalled_seconds)
        self._service: Service | None = None

    def app(self, settings: Settings, home: Path, listen: str, token: str) -> web.Application:
        http = settings.http
        guard = Guard(token, listen.rpartition(":")[0])
        app = web.Application(middlewares=[guard.watch], client_max_size=http.max_body)
        self._probes.add_to(app)
        if http.api:
            place = settings.execution.project, settings.execution.domain
            _add_api(app, Api(self.service, home, place, http.max_body, http.patience_seconds), secured=bool(token))
        return app

    def service(self) -> Service:
        """Raises Refuse while there is none."""
        if self._service is None:
            raise Refuse(503, "NotReady", "the engine is restoring or stopping; try again later", "SYSTEM")
        if self._service.delay_seconds is None:
            raise Refuse(503, "NotReady", "what there is is being read; try again later", "SYSTEM")
        return self._service

    @contextmanager
    def serving(self, service: Service, hindrance: Callable[[], str]) -> Iterator[None]:
        """While the block is entered it answers: no longer once the engine is told to stop. `hindrance`: why it is not
        ready, for its probe; empty = it is."""
        self._service = service
        self._probes.ready(hindrance)
        try:
            yield
        finally:
            self._probes.ready(None)
            self._service = None


def _add_api(app: web.Application, api: Api, *, secured: bool) -> None:
    operations = api.operations()
    document = openapi(operations, VERSION, secured=secured)

    async def describe(request: web.Request) -> web.Response:
        return answer(document)

    for one in operations:
        app.router.add_route(one.method, one.path, one.handler)
    app.router.add_get(f"{ROOT}/openapi.json", describe)


@asynccontextmanager
async def answering(
    settings: Settings, home: Path, listen: str, metrics: Metrics | None = None
) -> AsyncIterator[Gateway]:
    """Answer HTTP at HOST:PORT while the block is entered. Raises BadInput where that can't be had."""
    http = settings.http
    token = await to_thread.run_sync(token_for, listen, http.token_file) if http.api else ""
    gateway = Gateway(settings, metrics or Metrics())
    await to_thread.run_sync(gateway.metrics.tell_of_process)
    app = gateway.app(settings, home, listen, token)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        gateway.address = await _listen(runner, listen)
        async with anyio.create_task_group() as group:
            group.start_soon(_watch_lag, gateway.metrics)
            yield gateway
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
