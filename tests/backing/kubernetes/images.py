"""What becomes of an image is in its name: there is no registry here."""

from __future__ import annotations

import re
from collections.abc import Sequence

UNPULLABLE = "unpullable"
"""An image whose name holds it is never there."""
ONLY = re.compile(r"only-(amd64|arm64)")
"""`only-amd64`: the registry has no other; `built-for-amd64`: it has one, but it does not run elsewhere."""
BUILT_FOR = re.compile(r"built-for-(amd64|arm64)")
_NAME = re.compile(r"[a-z0-9._/:@-]+(:[\w.-]+)?(@sha256:[0-9a-f]+)?", re.ASCII)
BLIP = "ErrImagePull"
"""The reason after which there is another one."""


def refusal(image: str, architecture: str) -> Sequence[tuple[str, str]]:
    """Reasons and messages of waiting, one after the other; none: the image is there."""
    if not _NAME.fullmatch(image):
        return [("InvalidImageName", f'Failed to apply default image tag "{image}": couldn\'t parse image name')]
    only = ONLY.search(image)
    if UNPULLABLE in image:
        why = f"failed to resolve reference {image}: not found"
    elif only and only[1] != architecture:
        why = f"no matching manifest for linux/{architecture} in the manifest list entries: {image}"
    else:
        return []
    return [(BLIP, why), ("ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {why}')]


def is_for_another(image: str, architecture: str) -> bool:
    built = BUILT_FOR.search(image)
    return bool(built and built[1] != architecture)
