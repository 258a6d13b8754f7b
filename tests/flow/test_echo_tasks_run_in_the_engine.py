"""Echo: the outputs are the inputs, and nothing is started."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.data.echo import paired
from engine.model.errors import ErrorKind
from engine.model.graph import Interface, TaskSpec
from engine.wire.natural import natural_map
from tests.dataplane import literal, reference, serialized
from tests.flow.caching import cached_task
from tests.flow.engines import World
from tests.programs import INT, STR, interface, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

BOTH = interface({"word": STR, "a": INT}, {"o0": STR, "o1": INT})


def echo(face: Interface) -> TaskSpec:
    return structs.replace(task("echo", face), type="echo", template=b"")


async def test_nothing_is_started() -> None:
    world = World(cached_task(None, echo(BOTH)))
    execution = await world.run(inputs=serialized(a=7, word="x"))
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": "x", "o1": 7}
    assert world.runner.launches.total() == 0
    assert await world.phases() == {"n0": "SUCCEEDED"}
    node = (await world.nodes())["n0"]
    assert natural_map(await world.blobs.get(node.inputs_uri)) == {"a": 7, "word": "x"}
    assert [fact.phase for fact in await world.facts() if fact.path == "n0"] == ["QUEUED", "RUNNING", "SUCCEEDED"]


async def test_a_reference_is_passed_on() -> None:
    world = World(cached_task(None, echo(interface({"a": INT}, {"o0": INT}))))
    uri = world.blobs.uri("elsewhere")
    await world.blobs.put(uri, literal(3).SerializeToString())
    execution = await world.run(inputs=serialized(a=reference(uri, 9)))
    assert (await world.blobs.get(execution.outputs_uri)).find(uri.encode()) > 0


async def test_outputs_that_are_no_inputs() -> None:
    world = World(cached_task(None, echo(interface({"a": INT}, {"o0": STR}))))
    execution = await world.run(inputs=serialized(a=7))
    assert execution.error is not None
    assert (execution.error.code, execution.error.kind) == ("BadTaskFormat", ErrorKind.USER)
    assert "can't echo its inputs: its outputs are not of its inputs' types" in execution.error.message


def test_inputs_of_one_type_go_by_their_names() -> None:
    many = {f"x{k:02}": INT for k in range(12)}
    face = interface(many, {f"o{k}": INT for k in range(12)})
    assert paired(face) == {f"o{k}": f"x{k:02}" for k in range(12)}
