"""A submitter elsewhere gives values: text that happens to name a file of the engine's machine is text."""

from __future__ import annotations

from pathlib import Path

import pytest
from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.model.errors import BadInput
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.wire.inputs import as_documents, from_elsewhere, inputs_for
from engine.wire.natural import natural_map
from engine.wire.registration import register
from tests import packages
from tests.flow.asking import INT, answer, asked, publish, request

LISTS = LiteralType(collection_type=INT)
STRUCT = LiteralType(simple=SimpleType.STRUCT)


def takes(kind: LiteralType) -> list[packages.Entity]:
    return [packages.workflow("m.takes", inputs={"x": kind}, gives={"o0": (kind, packages.given("x"))})]


@pytest.mark.looptime
@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", [LISTS, STRUCT, LiteralType(map_value_type=INT)])
async def test_a_request_that_names_a_file_is_rejected(tmp_path: Path, kind: LiteralType) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("[1, 2, 3]" if kind is LISTS else '{"a": 1}')
    async with asked() as (world, _):
        package = register(packages.files(*takes(kind)), project="p", domain="d", version="v5")
        await register_package(Registry(world.blobs), package, "package", "", 5.0)
        publish(world, request(entity="m.takes:v5", inputs={"x": str(secret)}))
        rejected = await answer(world)
        assert rejected.error is not None
        assert "inputs.x: expected" in rejected.error.message
        assert "no JSON" in rejected.error.message


def test_only_a_person_here_may_name_a_file(tmp_path: Path) -> None:
    file = tmp_path / "xs.json"
    file.write_text("[1, 2]")
    graph = packages.graph_of(*takes(LISTS), name="m.takes")
    assert natural_map(inputs_for(graph, as_documents({"x": str(file)}))) == {"x": [1, 2]}
    assert natural_map(inputs_for(graph, from_elsewhere({"x": "[3]"}))) == {"x": [3]}
    with pytest.raises(BadInput, match="no JSON"):
        inputs_for(graph, from_elsewhere({"x": str(file)}))
