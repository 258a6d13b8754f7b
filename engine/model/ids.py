"""Who is who: executions, entities, node paths, attempts.

A node path lists node ids from the root, with the attempt of each *containing* node between them: `n2/0/n0` is node
`n0` inside the first attempt of sub-workflow node `n2`. The part before the last id (`n2/0`) names a *frame*: one graph
being executed. The root frame is the empty string.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

from msgspec import Struct

NODE_ID = re.compile(r"\w[\w.-]*\Z")
DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_HASHED = re.compile(r"(^x|-)[0-9a-f]{32}\Z")
ROOT_FRAME = ""


class ExecutionId(Struct, frozen=True, order=True):
    project: str
    domain: str
    name: str
    """A DNS label: at most 63 of a-z, 0-9 and '-', neither first nor last a dash."""

    def __str__(self) -> str:
        return f"{self.project}:{self.domain}:{self.name}"


class EntityKind(StrEnum):
    TASK = "task"
    WORKFLOW = "workflow"
    LAUNCH_PLAN = "launch_plan"

    __hash__ = str.__hash__


class EntityId(Struct, frozen=True, order=True):
    """A registered task, workflow or launch plan."""

    kind: EntityKind
    project: str
    domain: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.kind.value.replace('_', ' ')} {self.name}"


class AttemptKey(Struct, frozen=True, order=True, omit_defaults=True):
    """One attempt of one node or map element. Every name an attempt has in the world derives from it."""

    execution: ExecutionId
    path: str
    attempt: int = 0
    index: int | None = None
    """The map element, or None for the node itself."""
    node_attempt: int = 0
    """The attempt of the map node that holds the element (0 where index is None)."""
    run: str = ""
    """Tells this run of the execution's name from an earlier one whose record is gone."""

    def __str__(self) -> str:
        element = "" if self.index is None else f"[{self.index}]"
        run = f"|{self.run}" if self.run else ""
        return f"{self.execution}|{self.path}{element}|{self.node_attempt}|{self.attempt}{run}"

    def digest(self) -> str:
        """32 hex digits (128 bits) that stand for the whole key where a short name is needed."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:32]


def join(frame: str, node_id: str) -> str:
    """The path of a node in a frame."""
    return f"{frame}/{node_id}" if frame else node_id


def split(path: str) -> tuple[str, str]:
    """The frame and the id of a node path: `n2/0/n0` gives (`n2/0`, `n0`)."""
    frame, _, node_id = path.rpartition("/")
    return frame, node_id


def inner_frame(path: str, attempt: int) -> str:
    """The frame that an attempt of a composite node opens: `n2`, 0 gives `n2/0`."""
    return f"{path}/{attempt}"


def owner(frame: str) -> str | None:
    """The path of the node that a frame belongs to, or None for the root frame."""
    return frame.rpartition("/")[0] if frame else None


def label(*parts: str, limit: int = 63) -> str:
    """A DNS label that names `parts`: readable while it fits, else cut and closed with a 128-bit hash.

    It is never cut silently. Different parts give different labels: whatever is not plain lower-case text brings the
    hash with it, and so does text that could be taken for a label of other parts. A `limit` below 33 shortens the hash.
    """
    plain = "-".join(parts)
    if len(parts) == 1 and len(plain) <= limit and DNS_LABEL.match(plain) and not _HASHED.search(plain):
        return plain
    # ascii() tells ("a", "b") from ("a-b",) and from any other parts, whatever characters they hold.
    digest = hashlib.sha256(ascii(parts).encode()).hexdigest()[:32]
    readable = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[: max(limit - 33, 0)].rstrip("-")
    return f"{readable}-{digest}" if readable else f"x{digest}"[:limit]
