"""The one door of a kubelet that the API server knocks at: what a container printed."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from tests.backing.kubernetes.certificates import self_signed


@asynccontextmanager
async def serving_logs(folder: Path) -> AsyncIterator[int]:
    """The port. The log of a container is FOLDER/NAMESPACE/POD/CONTAINER.log; one that is played prints nothing."""

    async def answer(request: web.Request) -> web.Response:
        names = request.match_info
        log = folder / names["namespace"] / names["pod"] / f"{names['container']}.log"
        lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
        wanted = int(request.query.get("tailLines", len(lines)))
        data = b"".join(lines[len(lines) - wanted if wanted < len(lines) else 0 :])
        return web.Response(body=data[: int(request.query.get("limitBytes", len(data)))], content_type="text/plain")

    application = web.Application()
    application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trust.load_cert_chain(*self_signed(folder))
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=trust)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
