"""Names of images, as container runtimes read them."""

from __future__ import annotations

import re

from msgspec import Struct

_HUB, _HUB_API = "docker.io", "registry-1.docker.io"
_REPOSITORY = re.compile(r"[a-z0-9]+([._/-]+[a-z0-9]+)*\Z")
_TAG = re.compile(r"\w[\w.-]{0,127}\Z")
_DIGEST = re.compile(r"[a-z0-9+._-]+:[0-9a-f]{32,}\Z")
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?\Z")


class ImageName(Struct, frozen=True):
    registry: str
    """Host, with its port where that is not the usual one."""
    repository: str
    tag: str
    digest: str

    @property
    def reference(self) -> str:
        """What a manifest is asked for by; a digest says more than a tag."""
        return self.digest or self.tag

    @property
    def api(self) -> str:
        """URL of the registry. As container runtimes do it, this machine is spoken to without TLS."""
        host = _HUB_API if self.registry == _HUB else self.registry
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        local = name in ("localhost", "[::1]") or name.startswith("127.")
        return f"{'http' if local else 'https'}://{host}/v2/{self.repository}"


def parse(image: str) -> ImageName | None:
    """None: a name that no runtime would take. `python` is `docker.io/library/python:latest`."""
    rest, _, digest = image.partition("@")
    first, slash, path = rest.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        registry, rest = first, path
    else:
        registry = _HUB
    repository, colon, tag = rest.rpartition(":")
    if not colon:
        repository, tag = rest, "latest"
    if registry in (_HUB, "index.docker.io"):
        registry, repository = _HUB, repository if "/" in repository else f"library/{repository}"
    whole = _REPOSITORY.match(repository) and _TAG.match(tag) and _HOST.match(registry)
    if not whole or (digest and not _DIGEST.match(digest)):
        return None
    return ImageName(registry, repository, tag, digest)
