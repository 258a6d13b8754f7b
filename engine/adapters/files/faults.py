"""What an error of the operating system means for the engine."""

from __future__ import annotations

import errno

from engine.model.errors import BlobNotFound, EngineError, StoreFailed, StoreRefused, Transient

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
_GONE = {errno.ENOENT}
"""On writing: folders are made where they are missing, so the store's own folder was deleted."""
_NAME = {errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EFBIG, errno.EXDEV}
_DENIED = {errno.EACCES, errno.EPERM}


def reading(error: OSError, uri: str) -> EngineError:
    """No such object, an object that can't be had, or an error that may pass."""
    if error.errno in _MISSING:
        return BlobNotFound(uri)
    return _refused(error, uri, "read") or Transient(f"{uri} can't be read: {_why(error)}")


def writing(error: OSError, uri: str) -> EngineError:
    """A store that takes no more writes stops the engine; a name that can't be is refused; the rest may pass."""
    if error.errno in _FULL | _GONE or error.errno == errno.EIO:
        return StoreFailed(
            f"{uri} can't be written: {_why(error)}. The engine stops; nothing acknowledged is lost, a resume goes on"
        )
    return _refused(error, uri, "written") or Transient(f"{uri} can't be written: {_why(error)}")


def _refused(error: OSError, uri: str, verb: str) -> StoreRefused | None:
    if error.errno == errno.ELOOP:
        return StoreRefused(f"{uri} can't be {verb}: {error.filename} is a link, and the store follows none")
    if error.errno in _DENIED or error.errno in _NAME:
        return StoreRefused(f"{uri} can't be {verb}: {_why(error)}")
    return None


def _why(error: OSError) -> str:
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{place}"
