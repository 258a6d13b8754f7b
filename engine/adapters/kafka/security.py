"""Encryption and login, as aiokafka's clients take them. Secrets are read when they are needed, and never shown."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
from aiokafka.abc import AbstractTokenProvider

from engine.model.errors import BadInput

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


@dataclass(frozen=True, slots=True)
class Security:
    tls: bool = False
    ca_file: Path | None = None
    """Certificates that are trusted; None = those of the system."""
    certificate_file: Path | None = None
    """Of this client, with its chain, where the brokers ask for one."""
    key_file: Path | None = None
    mechanism: Mechanism | None = None
    username: str = ""
    password: str = field(default="", repr=False)
    token_file: Path | None = None
    """For OAUTHBEARER: a file that somebody keeps fresh; read again for every connection."""

    def arguments(self) -> dict[str, Any]:
        """Blocking (reads certificates). Raises BadInput."""
        found: dict[str, Any] = {"security_protocol": _protocol(self)}
        if self.tls:
            found["ssl_context"] = self._context()
        if self.mechanism:
            found["sasl_mechanism"] = self.mechanism
        if self.mechanism == "OAUTHBEARER":
            if self.token_file is None:
                raise BadInput("kafka: OAUTHBEARER needs a file with the token; nothing was started")
            found["sasl_oauth_token_provider"] = FileToken(self.token_file)
        elif self.mechanism:
            found |= {"sasl_plain_username": self.username, "sasl_plain_password": self.password}
        return found

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate_file:
                context.load_cert_chain(self.certificate_file, self.key_file)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(str(file) for file in (self.ca_file, self.certificate_file, self.key_file) if file)
            raise BadInput(f"kafka: the certificates can't be used ({files}): {error}; nothing was started") from error
        return context


class FileToken(AbstractTokenProvider):
    """A bearer token from a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def token(self) -> str:
        return (await anyio.Path(self._path).read_text()).strip()


def _protocol(security: Security) -> str:
    return ("SASL_" if security.mechanism else "") + ("SSL" if security.tls else "PLAINTEXT")
