"""Registers a package: fills the ids that packaging left empty, brings every message into canonical form."""

from __future__ import annotations

from engine.model.errors import BadPackage
from engine.wire.package import Package, PackageFiles


def register(files: PackageFiles, *, project: str, domain: str, version: str = "") -> Package:
    """The package under a project, domain and version; an empty version is derived from the content.

    Raises BadPackage listing every message that can't be parsed or has no name.
    """
    raise BadPackage(files.where, ["not registered yet"])
