"""URIs of a store on S3: `s3://bucket/prefix/key`."""

from __future__ import annotations

import re

from engine.adapters import blobkeys
from engine.model.errors import BadInput, StoreRefused

SCHEME = "s3://"
_BUCKET = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,61}[a-zA-Z0-9]\Z")


class Names:
    """The names of one store, whose root is a bucket or a prefix of one."""

    def __init__(self, root: str) -> None:
        """Raises BadInput."""
        wrong = f"{root!r} can't be a store; expected s3://BUCKET or s3://BUCKET/PREFIX"
        if not root.startswith(SCHEME):
            raise BadInput(wrong)
        self.bucket, _, prefix = root.removeprefix(SCHEME).rstrip("/").partition("/")
        if not _BUCKET.match(self.bucket):
            raise BadInput(f"{wrong}; a bucket's name has 3 to 63 of letters, digits, '.', '-' and '_'")
        self._prefix = f"{prefix}/" if prefix else ""
        self.root = f"{SCHEME}{self.bucket}/{prefix}" if prefix else f"{SCHEME}{self.bucket}"
        if len(prefix.encode(errors="replace")) > blobkeys.ROOT_LIMIT:
            raise BadInput(f"{wrong}; its prefix may have {blobkeys.ROOT_LIMIT} bytes at most")
        if prefix:
            try:
                blobkeys.check(prefix, self.root)
            except StoreRefused as refusal:
                raise BadInput(f"{wrong}: {refusal}") from refusal

    def uri(self, key: str) -> str:
        """Raises StoreRefused."""
        uri = f"{self.root}/{key}"
        blobkeys.check(key, uri)
        return uri

    def key(self, uri: str) -> str:
        """The key in the bucket. Raises StoreRefused for what is not below the root, or odd."""
        if not uri.startswith(f"{self.root}/"):
            raise StoreRefused(f"the store does not touch {uri!r}: it is not below {self.root}/")
        return self._prefix + blobkeys.check(uri[len(self.root) + 1 :], uri)

    def folder(self, uri: str) -> str:
        """What the keys below a URI start with; the root may be listed as well."""
        return self._prefix if uri == self.root else f"{self.key(uri)}/"

    def uri_of(self, key: str) -> str:
        """The URI of a key that the bucket listed below the root; empty for a name that no URI can have."""
        uri = f"{SCHEME}{self.bucket}/{key}"
        try:
            self.key(uri)
        except StoreRefused:
            return ""
        return uri
