"""Keys of records, and the partition that an execution belongs to.

The key of everything about an execution is its id, `project:domain:name`. Kafka's own clients put records with this key
into the same partition, because all use murmur2.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

from aiokafka.partitioner import murmur2

from engine.model.ids import ExecutionId
from engine.wire.codec import Unreadable

CLAIM = b"#claim"
"""Key of the record of a state partition that says whose it is."""
BARRIER = b"#barrier"
"""Key of a record of a state partition that says nothing and has no value: who sees it sees all that lies before it."""
_PLAIN = "!\"$&'()*+,-./;<=>?@[\\]^_`{}~ "
"""Stay as they are; `%`, `:`, `|` and `#` do not."""


@lru_cache(maxsize=65536)
def key_of(execution: ExecutionId) -> bytes:
    """Different for every execution; ids without odd characters read as people write them."""
    return ":".join(_quoted(part) for part in (execution.project, execution.domain, execution.name)).encode()


@lru_cache(maxsize=65536)
def execution_of(key: bytes) -> ExecutionId:
    """Of what `key_of` has made. Raises Unreadable for anything else."""
    try:
        project, domain, name = (unquote_to_bytes(part).decode("utf-8", "surrogatepass") for part in key.split(b":"))
    except ValueError as error:
        raise Unreadable(f"the key {key!r:.200} is of no execution; expected PROJECT:DOMAIN:NAME") from error
    return ExecutionId(project, domain, name)


@lru_cache(maxsize=65536)
def partition_of(execution: ExecutionId, partitions: int) -> int:
    return int(murmur2(key_of(execution)) & 0x7FFFFFFF) % partitions


def node_key(execution: bytes, path: str) -> bytes:
    return execution + b"|" + _quoted(path).encode()


def split_key(key: bytes) -> tuple[bytes, str | None]:
    """The execution's key and the node's path; None for the execution itself. Raises Unreadable for other keys."""
    execution, bar, path = key.partition(b"|")
    execution_of(execution)
    try:
        return execution, unquote_to_bytes(path).decode("utf-8", "surrogatepass") if bar else None
    except ValueError as error:
        raise Unreadable(f"the key {key!r:.200} is of no node: its path is no UTF-8") from error


@lru_cache(maxsize=65536)
def _quoted(text: str) -> str:
    return quote(text, safe=_PLAIN, encoding="utf-8", errors="surrogatepass")
