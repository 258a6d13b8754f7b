"""How an S3 store is reached, and what it may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class S3Options:
    """Credentials are not among them: they come from botocore's own chain (environment, files, roles)."""

    endpoint: str | None = None
    """URL of the service; None = that of AWS."""
    region: str | None = None
    addressing: Literal["auto", "path", "virtual"] = "auto"
    """Where the bucket's name stands in URLs; auto: in the path where there is an endpoint."""
    max_connections: int = 50
    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    """The longest silence of a server; bodies get time by their size on top of it."""
    patience_seconds: float = 60.0
    """How long a call is tried again before the trouble is reported."""
    part_bytes: int = 8 * MIB
    parallel_parts: int = 8
    """Parts on their way at once, of all writers together."""
    encryption: Literal["AES256", "aws:kms"] | None = None
    """Asked for with every write; None = the bucket's own."""
    kms_key: str | None = None
    checksums: bool = True
    """Send a checksum with every write, so that the service refuses what was damaged on its way."""
