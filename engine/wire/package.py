"""A workflow package: the entities that an author's file or `pyflyte package` gave, before they are compiled.

`PackageFiles` is what was read (ids still empty); `Package` is registered: ids filled, canonical, with a digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from engine.model.errors import BadPackage
from engine.model.ids import EntityId

FORMAT = 1
"""Version number of the stored form; an older one is upcast on read, a newer one is refused."""


class PackageFiles(Struct, frozen=True):
    """The `.pb` files of one package, as flytekit wrote them."""

    where: str
    """The file, archive or folder it was read from, for messages."""
    files: Mapping[str, bytes]
    """File name -> serialized admin.TaskSpec (`_1.pb`), admin.WorkflowSpec (`_2.pb`) or admin.LaunchPlan (`_3.pb`)."""
    code_root: str = ""
    """Local folder that the tasks' modules are imported from; empty where nobody said."""
    module: str = ""
    """The module that was packaged; empty for an archive."""
    activate: tuple[str, ...] = ()
    """Names of the launch plans that are to be active once they are registered: the messages do not tell."""
    code_archive: str = ""
    """Name of the fast-registration archive inside the package (`fast<md5>.tar.gz`), if it has one."""


class Link(Struct, frozen=True):
    """An entity that was registered with another package, which this one refers to."""

    id: EntityId
    code_root: str = ""
    """Of a task: the folder with its modules."""
    package: str = ""
    """Of a launch plan: digest of the package that it runs from, where that is not the execution's."""


class Package(Struct, frozen=True):
    """Registered entities in canonical form, sorted by name: deterministic bytes, every id filled."""

    project: str
    domain: str
    version: str
    tasks: tuple[bytes, ...]
    """Serialized admin.TaskSpec."""
    workflows: tuple[bytes, ...]
    """Serialized admin.WorkflowSpec."""
    launch_plans: tuple[bytes, ...]
    """Serialized admin.LaunchPlan."""
    code_root: str = ""
    links: tuple[Link, ...] = ()
    """Which of the entities came from elsewhere."""
    root: str = ""
    """Name of the workflow to run, where the package is the plan that a @dynamic task wrote."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the stored form: the same content has the same digest, wherever it was read from."""
        return hashlib.sha256(pack(self)).hexdigest()


class _Stored(Struct, frozen=True):
    format: int
    package: Package


class _Format(Struct, frozen=True):
    format: int


def pack(package: Package) -> bytes:
    """The stored form, msgpack: put it at `engine.model.layout.package(package.digest)`."""
    return msgspec.msgpack.encode(_Stored(FORMAT, package))


def unpack(data: bytes, where: str) -> Package:
    """The inverse of `pack`. Raises BadPackage for bytes that are none, or that a newer version wrote."""
    try:
        found = msgspec.msgpack.decode(data, type=_Format).format
        if found != FORMAT:
            raise BadPackage(where, [f"stored in format {found}; this version reads format {FORMAT}"])
        return msgspec.msgpack.decode(data, type=_Stored).package
    except msgspec.MsgspecError as error:
        raise BadPackage(where, [f"not a stored package ({len(data)} bytes): {error}"]) from error
