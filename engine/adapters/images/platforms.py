"""Platforms of an image, and what a node of an architecture takes of them.

The rule is containerd's (its package `platforms`, `Only`): a node runs what its CPU runs, older versions included.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from engine.model.architectures import Architecture

_V5_TO_V7 = ("arm/v7", "arm/v6", "arm/v5")
_RUNS = {
    Architecture.AMD64: ("amd64", "386"),
    Architecture.ARM64: ("arm64", "arm/v8", *_V5_TO_V7),
    Architecture.ARM_V7: _V5_TO_V7,
    Architecture.ARM_V6: ("arm/v6", "arm/v5"),
}


class Platform(Struct, frozen=True):
    """As an image index or an image's configuration says it; empty = not said."""

    architecture: str = ""
    os: str = ""
    variant: str = ""

    @property
    def name(self) -> str:
        """Without the variants that every CPU of an architecture has (`arm64/v8`, `amd64/v1`)."""
        if self.architecture == "arm":
            return f"arm/{self.variant or 'v7'}"
        return self.architecture


def known(platforms: Collection[Platform]) -> list[Platform]:
    """Those that are images: builders file attestations beside them, as platform `unknown/unknown`."""
    return [it for it in platforms if it.architecture not in ("", "unknown") and it.os not in ("", "unknown")]


def runs_on(platforms: Collection[Platform], architecture: Architecture) -> bool:
    """Whether a Linux node of the architecture finds an image among them."""
    return any(it.os == "linux" and it.name in _RUNS[architecture] for it in platforms)


def listed(platforms: Collection[Platform]) -> str:
    return ", ".join(sorted({f"{it.os}/{it.name}" for it in platforms}))
