"""Values of which any parts lie elsewhere."""

from __future__ import annotations

from hypothesis import strategies as st

from engine.adapters.memory.blobs import MemoryBlobs
from tests.dataplane import Literal, reference


class Offloader:
    """Replaces parts of values by references, as the draws say; parts of stored values too."""

    def __init__(self, blobs: MemoryBlobs, data: st.DataObject) -> None:
        self.blobs, self.data, self.stored = blobs, data, 0

    def part(self, value: Literal) -> Literal:
        changed = Literal()
        changed.CopyFrom(value)
        for item in changed.collection.literals:
            item.CopyFrom(self.part(item))
        for key in list(changed.map.literals):
            changed.map.literals[key].CopyFrom(self.part(changed.map.literals[key]))
        if changed.scalar.HasField("union"):
            changed.scalar.union.value.CopyFrom(self.part(changed.scalar.union.value))
        if not self.data.draw(st.booleans()):
            return changed
        uri = self.blobs.uri(f"v{self.stored}_offloaded_metadata.pb")
        self.stored += 1
        self.blobs.objects[uri] = changed.SerializeToString()
        return reference(uri, len(self.blobs.objects[uri]))
