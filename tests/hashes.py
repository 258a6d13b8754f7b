"""flytekit's hash of a value, written down once more without flytekit (tests/service compares the two)."""

from __future__ import annotations

import base64
import hashlib
import json

from flyteidl.core import literals_pb2
from google.protobuf.json_format import MessageToDict

Literal = literals_pb2.Literal


def flytekits(literal: Literal) -> str:
    """`flytekit.utils.pbhash.compute_hash_string`."""
    text = json.dumps(MessageToDict(literal), sort_keys=True, separators=(",", ":"))
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def expected(literal: Literal) -> str:
    """The author's hash, or flytekit's of the literal in which each hashed part is only its hash."""
    return literal.hash or flytekits(placed(literal))


def placed(literal: Literal) -> Literal:
    if literal.hash:
        return Literal(hash=literal.hash)
    changed = Literal()
    changed.CopyFrom(literal)
    for item in changed.collection.literals if changed.HasField("collection") else ():
        item.CopyFrom(placed(item))
    for key in list(changed.map.literals) if changed.HasField("map") else ():
        changed.map.literals[key].CopyFrom(placed(changed.map.literals[key]))
    if changed.scalar.HasField("union"):
        changed.scalar.union.value.CopyFrom(placed(changed.scalar.union.value))
    return changed
