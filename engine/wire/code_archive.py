"""Unpacks the sources of a fast-registered package (`pyflyte package --copy all`), so that its tasks can run here."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from engine.model.errors import BadPackage
from engine.wire.archive import DAMAGED

MAX_CODE_BYTES = 2 * 1024 * 1024 * 1024


def unpack_code(package: Path, name: str, parent: Path) -> Path:
    """The folder with the sources, below `parent`: made once per archive, then found again. Blocking.

    `name` is `PackageFiles.code_archive`. Raises BadPackage for an archive that is damaged, too large, or that would
    write outside its folder.
    """
    folder = parent / PurePosixPath(name).name.removesuffix(".tar.gz")
    if folder.exists():
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=parent))
    try:
        with _opened(package, name) as stream, tarfile.open(fileobj=stream, mode="r:gz") as archive:
            _check_size(package, name, archive)
            archive.extractall(fresh, filter="data")
        os.replace(fresh, folder)
    except DAMAGED as error:
        if not folder.exists():  # else another process was faster
            raise BadPackage(str(package), [f"{name}: the sources can't be unpacked: {error}"]) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


@contextmanager
def _opened(package: Path, name: str) -> Iterator[IO[bytes]]:
    if package.is_dir():
        with open(package / name, "rb") as stream:
            yield stream
        return
    with tarfile.open(package, "r:*") as outer:
        inner = outer.extractfile(name)
        if inner is None:
            raise tarfile.ReadError("it is no regular file")
        yield inner


def _check_size(package: Path, name: str, archive: tarfile.TarFile) -> None:
    total = 0
    for member in archive:
        total += member.size
        if total > MAX_CODE_BYTES:
            raise BadPackage(str(package), [f"{name}: the sources have more than {MAX_CODE_BYTES} bytes"])
