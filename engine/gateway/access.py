"""Whether the API may be served where it is asked for: without a token, only to this machine."""

from __future__ import annotations

import socket
from pathlib import Path

from engine.model.errors import BadInput


def token_for(listen: str, token_file: str | None) -> str:
    """Blocking. The token that callers must know; "" = none. Raises BadInput where one is missing or can't be read."""
    if token_file is not None:
        return _read(token_file)
    if not is_loopback(listen):
        raise BadInput(
            f"http.listen: {listen} can be reached from other machines, so the API there needs a token: name a "
            "file that holds one with http.token_file, or leave the API out with http.api=false; nothing was started"
        )
    return ""


def _read(token_file: str) -> str:
    try:
        token = Path(token_file).expanduser().read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"http.token_file: {token_file} can't be read: {error}; nothing was started") from error
    if not token or len(token.split()) > 1:
        raise BadInput(f"http.token_file: {token_file} must hold one token and nothing else; nothing was started")
    return token


def is_loopback(listen: str) -> bool:
    """Blocking. Whether only this machine reaches HOST:PORT. Raises BadInput for a host that has no address."""
    host = listen.rpartition(":")[0].strip("[]")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BadInput(f"http.listen: {host} has no address: {error}; nothing was started") from error
    return all(str(place[0]).startswith("127.") or place[0] == "::1" for *_, place in found)
