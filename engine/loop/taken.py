"""Names of executions that are taken in the store: of several processes that are asked for one, one gets it."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct, structs

from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.ports.blobstore import BlobStore
from engine.wire.codec import pack_event


class Taken(Struct, frozen=True):
    """What the store says of a name that is taken."""

    content: str
    """Digest of what was submitted or requested under it."""
    run: str = ""


async def take(blobs: BlobStore, event: ExecutionSubmitted, inputs: bytes) -> str:
    """Take the name of a submission; the run of whoever was first with the same one.

    It stays taken for as long as the execution's folder is there. Raises BadInput where another submission has it.
    """
    uri = blobs.uri(layout.submission(event.execution))
    mine = Taken(_digest(event, inputs), event.run)
    if await blobs.create(uri, msgspec.json.encode(mine)):
        return mine.run
    first = msgspec.json.decode(await blobs.get(uri), type=Taken)
    if first.content != mine.content:
        raise BadInput(
            f"execution {event.execution.name} exists already, with another workflow or other inputs; choose another "
            "name"
        )
    return first.run


def _digest(event: ExecutionSubmitted, inputs: bytes) -> str:
    """Of all that counts of a submission."""
    plain = pack_event(structs.replace(event, submitted_at=0.0, run=""))
    return hashlib.sha256(hashlib.sha256(plain).digest() + inputs).hexdigest()
