"""What is said about the results of a task that are kept and used again."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class CachePolicy(Struct, frozen=True):
    """How the results of a task node, or of the elements of a map node, are cached."""

    version: str
    """The author's `cache_version`: another one finds nothing of what the one before it kept."""
    serialize: bool = False
    """Of attempts with equal inputs one runs; the others wait for its result."""
    ignored: frozenset[str] = frozenset()
    """Inputs that make no difference."""


class CacheKey(Struct, frozen=True):
    """Names what is kept: equal keys stand for equal results."""

    project: str
    domain: str
    task: str
    """Name of the task; its version is no part of it."""
    digest: str
    """32 bytes in hex: of the cache version, the interface and the inputs."""

    def __str__(self) -> str:
        return f"{self.project}:{self.domain}:{self.task}:{self.digest}"


class CacheStatus(StrEnum):
    """What the cache did for an attempt; Flyte's own names. An attempt that is not cached has none."""

    HIT = "CACHE_HIT"
    """The result was there: nothing ran."""
    MISS = "CACHE_MISS"
    """It was not there, and no result of this attempt has been kept (yet)."""
    SKIPPED = "CACHE_SKIPPED"
    """The execution overwrites the cache, so nobody looked."""
    LOOKUP_FAILURE = "CACHE_LOOKUP_FAILURE"
    """The cache could not be asked; the task runs."""
    POPULATED = "CACHE_POPULATED"
    """The result of this attempt is kept."""
    PUT_FAILURE = "CACHE_PUT_FAILURE"
    """The result could not be kept; the attempt has succeeded all the same."""
