"""Credentials of registries, from a file as `docker login` writes it."""

from __future__ import annotations

import base64
import binascii
import logging

import anyio
import msgspec
from msgspec import Struct

log = logging.getLogger(__name__)
_HUB_NAMES = ("https://index.docker.io/v1/", "index.docker.io", "docker.io", "registry-1.docker.io")


class _Entry(Struct):
    auth: str = ""
    username: str = ""
    password: str = ""


class _File(Struct):
    auths: dict[str, _Entry] = {}


async def credentials(path: str | None, registry: str) -> str:
    """The header Authorization for a registry, by user and password; "": there are none.

    Read anew each time, since such files are replaced.
    """
    if path is None:
        return ""
    try:
        entries = msgspec.json.decode(await anyio.Path(path).read_bytes(), type=_File).auths
    except (OSError, msgspec.MsgspecError) as problem:
        log.warning("the file of registry credentials can't be read", extra={"file": path, "cause": str(problem)})
        return ""
    names = _HUB_NAMES if registry == "docker.io" else (registry, f"https://{registry}", f"https://{registry}/v1/")
    entry = next((entries[name] for name in names if name in entries), None)
    pair = "" if entry is None else _pair(entry)
    return f"Basic {pair}" if pair else ""


def _pair(entry: _Entry) -> str:
    """`USER:PASSWORD` in base 64; "" where there is none, or what stands there is none."""
    if not entry.auth:
        return base64.b64encode(f"{entry.username}:{entry.password}".encode()).decode() if entry.username else ""
    try:
        return entry.auth if b":" in base64.b64decode(entry.auth, validate=True) else ""
    except binascii.Error:
        return ""
