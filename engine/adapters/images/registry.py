"""Calls of registries: manifests and configurations, with whatever proof a registry asks for.

https://github.com/opencontainers/distribution-spec/blob/main/spec.md and Docker's token authentication.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from engine.adapters.images.credentials import credentials
from engine.adapters.images.names import ImageName
from engine.adapters.images.platforms import Platform

LONGEST = 4 * 2**20
"""Bytes of a manifest; the specification lets registries refuse larger ones."""
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_MANIFESTS = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
_ACCEPT = ", ".join((*_INDEXES, *_MANIFESTS))
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')


class CannotTell(Exception):
    """The registry did not answer, would not say, or said what is not understood."""


class _Descriptor(Struct):
    digest: str = ""
    platform: Platform | None = None


class _Manifest(Struct):
    """An index has `manifests`, an image has a `config`."""

    manifests: Sequence[_Descriptor] | None = None
    config: _Descriptor | None = None


class _Token(Struct):
    token: str = ""
    access_token: str = ""


class Registry:
    """Every method raises CannotTell, aiohttp.ClientError and TimeoutError."""

    def __init__(self, session: aiohttp.ClientSession, auth_file: str | None) -> None:
        self._session, self._auth_file = session, auth_file

    async def digest(self, image: ImageName) -> str:
        """Of what a tag stands for now; "" where the registry does not say."""
        reply = await self._ask(image, "HEAD", f"manifests/{image.reference}")
        reply.release()
        return reply.headers.get("Docker-Content-Digest", "")

    async def platforms(self, image: ImageName) -> tuple[Platform, ...]:
        manifest = _decoded(await self._read(image, f"manifests/{image.reference}"), _Manifest)
        if manifest.manifests is not None:
            return tuple(it.platform for it in manifest.manifests if it.platform is not None)
        if manifest.config is None or not manifest.config.digest:
            raise CannotTell("its manifest is of a kind that does not say")
        return (_decoded(await self._read(image, f"blobs/{manifest.config.digest}"), Platform),)

    async def _read(self, image: ImageName, path: str) -> bytes:
        reply = await self._ask(image, "GET", path)
        try:
            data = bytearray()
            async for chunk in reply.content.iter_any():
                data += chunk
                if len(data) > LONGEST:
                    raise CannotTell(f"{path} has more than {LONGEST} bytes")
            return bytes(data)
        finally:
            reply.release()

    async def _ask(self, image: ImageName, verb: str, path: str) -> aiohttp.ClientResponse:
        """A success, with a proof of who asks where the registry wants one."""
        reply = await self._send(image, verb, path, {})
        if reply.status == HTTPStatus.UNAUTHORIZED:
            challenge = reply.headers.get("WWW-Authenticate", "")
            reply.release()
            reply = await self._send(image, verb, path, {"Authorization": await self._proof(image, challenge)})
        if reply.status != HTTPStatus.OK:
            reply.release()
            raise CannotTell(f"the registry answers {reply.status} {reply.reason}")
        return reply

    async def _send(self, image: ImageName, verb: str, path: str, headers: dict[str, str]) -> aiohttp.ClientResponse:
        return await self._session.request(
            verb, f"{image.api}/{path}", headers={"Accept": _ACCEPT, **headers}, allow_redirects=True
        )

    async def _proof(self, image: ImageName, challenge: str) -> str:
        """Value of the header Authorization that a challenge asks for."""
        scheme, _, rest = challenge.partition(" ")
        login = await credentials(self._auth_file, image.registry)
        if scheme.lower() == "basic" and login:
            return login
        parameters = dict(_PARAMETER.findall(rest))
        if scheme.lower() != "bearer" or "realm" not in parameters:
            raise CannotTell("the registry wants credentials" + ("" if login else ", and there are none for it"))
        query = {
            "scope": parameters.get("scope", f"repository:{image.repository}:pull"),
            **({"service": parameters["service"]} if "service" in parameters else {}),
        }
        headers = {"Authorization": login} if login else {}
        async with self._session.get(parameters["realm"], params=query, headers=headers) as reply:
            if reply.status != HTTPStatus.OK:
                raise CannotTell(f"the registry's token service answers {reply.status} {reply.reason}")
            found = _decoded(await reply.content.read(LONGEST), _Token)
        return f"Bearer {found.token or found.access_token}"


_T = TypeVar("_T")


def _decoded(data: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as problem:
        raise CannotTell(f"what the registry says is not understood: {problem}") from problem
