"""A server's certificate that may be replaced on the disk while the server runs."""

from __future__ import annotations

import logging
import os
import ssl

import anyio
from anyio import to_thread

from engine.model.errors import BadInput

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""Between looks at the files: mounted secrets tell of no change."""


class Certificate:
    """Whoever connects gets the one that was read last; a pair that can't be used leaves the one before in place."""

    def __init__(self, certificate_file: str, key_file: str) -> None:
        """Blocking. Raises BadInput naming the files."""
        self._files = certificate_file, key_file
        try:
            self._seen = self._stamps()
            self._current = self._loaded()
            self.context = self._loaded()
            """For the server's socket."""
        except (OSError, ssl.SSLError) as problem:
            what = f"certificate {certificate_file} with key {key_file}"
            raise BadInput(f"{what} can't be used: {problem}; nothing was started") from problem
        self.context.sni_callback = self._greet

    def _greet(self, socket: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext) -> None:
        """At the begin of each handshake."""
        socket.context = self._current

    async def keep_fresh(self, look_seconds: float = LOOK_SECONDS) -> None:
        """For ever."""
        while True:
            await anyio.sleep(look_seconds)
            await to_thread.run_sync(self.refresh)

    def refresh(self) -> None:
        """Blocking. Take what is on the disk now."""
        try:
            if (stamps := self._stamps()) != self._seen:
                self._seen = stamps
                self._current = self._loaded()
                log.info("a new certificate is used", extra={"file": self._files[0]})
        except (OSError, ssl.SSLError) as problem:
            extra = {"file": self._files[0], "cause": str(problem)}
            log.warning("a new certificate can't be used, the one before is kept", extra=extra)

    def _stamps(self) -> list[tuple[int, int, int]]:
        found = [os.stat(path) for path in self._files]
        return [(it.st_ino, it.st_mtime_ns, it.st_size) for it in found]

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*self._files)
        return context
