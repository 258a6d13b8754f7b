"""What machines ask: /metrics for Prometheus, /healthz and /readyz for whoever restarts or routes."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from engine.gateway.metrics import Metrics


class Probes:
    def __init__(self, metrics: Metrics, stalled_seconds: float) -> None:
        self._metrics, self._stalled_seconds = metrics, stalled_seconds
        self._is_ready: Callable[[], bool] = _never
        metrics.ready.set_function(lambda: float(self._is_ready()))

    def ready(self, ask: Callable[[], bool] | None) -> None:
        """From now on this tells whether it is ready; None: it is not."""
        self._is_ready = ask or _never

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/metrics", self._scrape)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)

    async def _scrape(self, request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(self._metrics.registry), headers={"Content-Type": content_type})

    async def _healthz(self, request: web.Request) -> web.Response:
        """Whether a restart would help: the loop answers, and no turn hangs."""
        seconds = self._metrics.stalled_seconds()
        if seconds <= self._stalled_seconds:
            return web.Response(text="ok\n")
        return web.Response(status=503, text=f"a turn has not ended for {seconds:.0f} seconds\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        return (
            web.Response(text="ok\n") if self._is_ready() else web.Response(status=503, text="restoring or stopping\n")
        )


def _never() -> bool:
    return False
