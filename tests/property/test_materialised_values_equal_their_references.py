"""Whatever parts of a value are offloaded, at any depth: all are found, and the gate puts the same value together."""

from __future__ import annotations

from flyteidl.core import literals_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.gate import admit
from engine.data.references import find_references
from engine.model.limits import OffloadLimits
from tests.dataplane import Literal, literal_map
from tests.programs import task
from tests.property.offloading import Offloader
from tests.property.values import literals_without_references

OLD = task("old", version="1.0.0")


def reachable(value: Literal) -> int:
    """References in a value, as flyteidl's own objects show them; those inside stored values not counted."""
    if value.HasField("offloaded_metadata"):
        return 1
    if value.scalar.HasField("union"):
        return reachable(value.scalar.union.value)
    return sum(map(reachable, value.collection.literals)) + sum(map(reachable, value.map.literals.values()))


@settings(max_examples=150)
@given(st.dictionaries(st.text(max_size=3), literals_without_references, max_size=3), st.data())
async def test_any_part_may_be_offloaded(values: dict[str, Literal], data: st.DataObject) -> None:
    blobs = MemoryBlobs()
    offloader = Offloader(blobs, data)
    changed = literal_map({name: offloader.part(value) for name, value in values.items()})
    inputs = changed.SerializeToString(deterministic=True)
    assert len(find_references(inputs)) == sum(map(reachable, changed.literals.values()))
    uri = blobs.uri("inputs.pb")
    await admit(blobs, OLD, inputs, OffloadLimits(), uri)
    assert literals_pb2.LiteralMap.FromString(blobs.objects[uri]) == literal_map(values)
