"""What machines ask: /metrics for Prometheus, /healthz and /readyz for whoever restarts or routes."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from engine.gateway.metrics import Metrics


class Probes:
    def __init__(self, metrics: Metrics, stalled_seconds: float) -> None:
        self._metrics, self._stalled_seconds = metrics, stalled_seconds
        self._hindrance: Callable[[], str] = _away
        metrics.ready.set_function(lambda: float(not self._hindrance()))

    def ready(self, hindrance: Callable[[], str] | None) -> None:
        """From now on this tells why it is not ready, empty where it is; None: it is restoring or stopping."""
        self._hindrance = hindrance or _away

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
        why = self._hindrance()
        return web.Response(status=503, text=f"{why}\n") if why else web.Response(text="ok\n")


def _away() -> str:
    return "restoring or stopping"
