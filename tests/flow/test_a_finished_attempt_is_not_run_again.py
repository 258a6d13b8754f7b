"""After a restart a whole outcome in the attempt's folder is believed; half an outcome is cleared."""

from __future__ import annotations

import pytest
from flyteidl.core.dynamic_job_pb2 import DynamicJobSpec
from flyteidl.core.workflow_pb2 import Node

from engine.data.attempt import End, Planned, run_attempt
from engine.model import layout
from engine.model.effects import RunTask
from engine.model.events import AttemptFailed, AttemptSucceeded
from engine.ports.taskrunner import Exit, TaskRequest
from tests.dataplane import KEY, ORIGIN, World, error_document, exited, reference, serialized
from tests.programs import node, task

pytestmark = pytest.mark.looptime
WORK = task("work")


def futures(*, successes: int, outputs: tuple[str, ...]) -> bytes:
    """A plan of two nodes."""
    job = DynamicJobSpec(nodes=[Node(id="dn0"), Node(id="dn1")], min_successes=successes)
    for variable in outputs:
        job.outputs.add(var=variable)
    return bytes(job.SerializeToString())


@pytest.fixture
def world() -> World:
    async def script(request: TaskRequest) -> Exit:
        await made.blobs.put(f"{request.prefix_uri}/outputs.pb", serialized(o0="new"))
        return exited()

    made = World(script)
    return made


def leave(world: World, name: str, data: bytes) -> str:
    uri = world.blobs.uri(f"{layout.attempt_prefix(KEY)}/{name}")
    world.blobs.objects[uri] = data
    return uri


async def run(world: World, *, resumed: bool) -> End:
    effect = RunTask(KEY, node("n1", WORK.id), WORK, {}, ORIGIN, resumed)
    return await run_attempt(world.services, effect, serialized(a=1))


def outputs(world: World) -> bytes:
    return world.blobs.objects[world.blobs.uri(layout.outputs(KEY))]


@pytest.mark.parametrize("name", ["outputs.pb", "error.pb"])
async def test_a_finished_folder_is_believed_and_whatever_still_runs_is_stopped(world: World, name: str) -> None:
    uri = leave(world, name, serialized(o0="old") if name == "outputs.pb" else error_document("old"))
    event = await run(world, resumed=True)
    if name == "outputs.pb":
        assert event == AttemptSucceeded(KEY, uri, inputs_uri=world.blobs.uri(layout.attempt_inputs(KEY)))
    else:
        assert isinstance(event, AttemptFailed)
        assert event.failure.message == "old"
    assert (world.runner.requests, world.runner.stopped, world.reported) == ([], [KEY], [])


async def test_a_whole_plan_is_believed(world: World) -> None:
    uri = leave(world, "futures.pb", futures(successes=2, outputs=("o0",)))
    assert await run(world, resumed=True) == Planned(uri)
    assert (world.runner.requests, world.runner.stopped) == ([], [KEY])


async def test_an_attempt_without_files_is_run_or_adopted_and_its_folder_left_alone(world: World) -> None:
    log = leave(world, "stdout", b"so far")
    assert isinstance(await run(world, resumed=True), AttemptSucceeded)
    assert len(world.runner.requests) == 1
    assert world.runner.stopped == []
    assert world.blobs.objects[log] == b"so far"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("outputs.pb", b""),
        ("outputs.pb", serialized(other=1)),
        ("outputs.pb", serialized(o0="abc")[:-1]),
        ("error.pb", b"\xff\x00"),
        ("outputs.pb", None),
        ("futures.pb", futures(successes=3, outputs=("o0",))),
        ("futures.pb", futures(successes=2, outputs=())),
        ("futures.pb", futures(successes=2, outputs=("o0",))[:-1]),
    ],
    ids=[
        "empty",
        "lacks the output",
        "cut",
        "no error document",
        "lost reference",
        "lacks a node",
        "lacks the plan's output",
        "a plan cut",
    ],
)
async def test_half_an_outcome_is_cleared_and_the_task_runs_again(world: World, name: str, data: bytes | None) -> None:
    folder = world.blobs.uri(layout.attempt_prefix(KEY))
    leave(world, name, serialized(o0=reference(f"{folder}/o0_offloaded_metadata.pb", 9)) if data is None else data)
    assert isinstance(await run(world, resumed=True), AttemptSucceeded)
    assert outputs(world) == serialized(o0="new")
    assert [name for name in ("error.pb", "futures.pb") if f"{folder}/{name}" in world.blobs.objects] == []
    assert (len(world.runner.requests), world.runner.stopped) == (1, [KEY])


async def test_an_outcome_with_its_reference_in_place_is_believed(world: World) -> None:
    folder = world.blobs.uri(layout.attempt_prefix(KEY))
    leave(world, "o0_offloaded_metadata.pb", b"value")
    leave(world, "outputs.pb", serialized(o0=reference(f"{folder}/o0_offloaded_metadata.pb", 5)))
    assert isinstance(await run(world, resumed=True), AttemptSucceeded)
    assert world.runner.requests == []


@pytest.mark.parametrize("data", [serialized(o0="old"), b"", None], ids=["whole", "half", "nothing"])
async def test_a_runner_whose_tasks_outlive_the_engine_says_itself_what_became_of_one(
    world: World, data: bytes | None
) -> None:
    world.runner.outlives = True
    if data is not None:
        leave(world, "outputs.pb", data)
    assert isinstance(await run(world, resumed=True), AttemptSucceeded)
    assert [request.begun for request in world.runner.requests] == [data is not None]
    assert world.runner.stopped == []
