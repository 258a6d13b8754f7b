"""Reads what `pyflyte package` wrote: a `.tgz`, or a folder of `.pb` files, flat or nested. Unpacks nothing to disk."""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from engine.model.errors import BadPackage
from engine.wire.package import PackageFiles

MAX_FILE_BYTES = 64 * 1024 * 1024
"""One entity; a workflow of 10,000 nodes takes about 3 MB."""
MAX_PACKAGE_BYTES = 512 * 1024 * 1024
"""All entities together."""
MAX_MEMBER_BYTES = 2 * 1024 * 1024 * 1024
"""Anything else in an archive, which is passed over."""
MAX_FILES = 100_000
_CHUNK_BYTES = 1024 * 1024
CODE_ARCHIVE = re.compile(r"fast[0-9a-f]{32}\.tar\.gz\Z")
"""The author's sources, which `pyflyte package --copy all` puts beside the entities under this name."""
DAMAGED = (tarfile.TarError, zlib.error, EOFError, OSError)
"""What reading a damaged archive raises."""


class _Member(NamedTuple):
    name: str
    size: int
    read: Callable[[], bytes]
    refused: str = ""


def read_package(path: Path) -> PackageFiles:
    """Every `.pb` of an archive or folder. Blocking. Raises BadPackage naming each file that can't be read or used."""
    if path.is_dir():
        return _collect(path, _folder(path))
    if not path.exists():
        raise BadPackage(str(path), ["there is no such file or folder"])
    try:
        with tarfile.open(path, "r:*") as archive:
            found = _collect(path, _archive(archive))
            _read_to_the_end(archive)
            return found
    except tarfile.ReadError as error:
        expected = "a .py file, a .tgz of `pyflyte package`, or a folder of .pb files"
        raise BadPackage(str(path), [f"it is no archive, or a damaged one; expected {expected}"]) from error
    except DAMAGED as error:
        raise BadPackage(str(path), [f"the archive is damaged: {error}"]) from error


def _folder(path: Path) -> Iterator[_Member]:
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield _Member(file.relative_to(path).as_posix(), file.stat().st_size, file.read_bytes)


def _archive(archive: tarfile.TarFile) -> Iterator[_Member]:
    for member in archive:
        if member.isdir():
            continue

        def read(member: tarfile.TarInfo = member) -> bytes:
            stream = archive.extractfile(member)
            return stream.read() if stream else b""

        yield _Member(member.name, member.size, read, _refusal(member))


def _read_to_the_end(archive: tarfile.TarFile) -> None:
    """gzip keeps its checksum behind the last byte, where tarfile never looks."""
    rest, read = archive.fileobj, 0
    while rest is not None and (chunk := rest.read(_CHUNK_BYTES)):
        read += len(chunk)
        if read > MAX_MEMBER_BYTES:
            raise tarfile.ReadError(f"more than {MAX_MEMBER_BYTES} bytes lie behind its end")


def _refusal(member: tarfile.TarInfo) -> str:
    """Why a member is not touched. Names are never used as paths, but an honest archive has no such ones."""
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        return "its name leads out of the package"
    return "" if member.isfile() else "it is no regular file (a link, a device)"


def _collect(path: Path, members: Iterable[_Member]) -> PackageFiles:
    files: dict[str, bytes] = {}
    problems: list[str] = []
    total, code_archive = 0, ""
    for count, member in enumerate(members, start=1):
        _check_size(path, member, count, total)
        if member.refused:
            problems.append(f"{member.name}: {member.refused}")
        elif CODE_ARCHIVE.match(PurePosixPath(member.name).name):
            code_archive = member.name
        elif member.name.endswith(".pb"):
            files[member.name] = _content(member, problems)
            total += member.size
    if problems:
        raise BadPackage(str(path), problems)
    return PackageFiles(str(path), files, code_archive=code_archive)


def _content(member: _Member, problems: list[str]) -> bytes:
    try:
        return member.read()
    except DAMAGED as error:
        problems.append(f"{member.name}: can't be read: {error}")
        return b""


def _check_size(path: Path, member: _Member, count: int, total: int) -> None:
    """Raises at once: what is too large is not read to its end."""
    entity = member.name.endswith(".pb")
    limit = MAX_FILE_BYTES if entity else MAX_MEMBER_BYTES
    if member.size > limit:
        raise BadPackage(str(path), [f"{member.name}: it has {member.size} bytes; at most {limit} are read"])
    if entity and total + member.size > MAX_PACKAGE_BYTES:
        raise BadPackage(str(path), [f"{member.name}: the entities have more than {MAX_PACKAGE_BYTES} bytes in all"])
    if count > MAX_FILES:
        raise BadPackage(str(path), [f"it has more than {MAX_FILES} files"])
