"""Whatever a task does and leaves behind, its attempt ends in exactly one verdict, and its start is told once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import START
from engine.data.attempt import End, Planned, run_attempt
from engine.model import layout
from engine.model.effects import RunTask
from engine.model.errors import ErrorKind, Transient
from engine.model.events import AttemptFailed, AttemptStarted, AttemptSucceeded
from engine.model.graph import ArraySpec, TaskSpec
from engine.model.ids import AttemptKey
from engine.model.limits import MIB, OffloadLimits
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.dataplane import (
    EXECUTION,
    KEY,
    ORIGIN,
    RecordingBlobs,
    World,
    error_document,
    exited,
    reference,
    serialized,
    values_of,
)
from tests.programs import interface, node, task

WORK = task("work")
SILENT = task("silent", interface({}, {}))


def leaving(files: dict[str, bytes], ended: Exit | None = None) -> World:
    """A world whose task writes these files."""

    async def script(request: TaskRequest) -> Exit:
        for name, data in files.items():
            await world.blobs.put(f"{request.prefix_uri}/{name}", data)
        return ended or exited()

    world = World(script, blobs=RecordingBlobs())
    return world


def writing(name: str, data: bytes, blobs: MemoryBlobs | None = None) -> Callable[[TaskRequest], Awaitable[Exit]]:
    """A task that writes one file and gives nobody else a turn meanwhile."""

    async def script(request: TaskRequest) -> Exit:
        (blobs or MemoryBlobs()).objects[f"{request.prefix_uri}/{name}"] = data
        return exited()

    return script


async def run(world: World, spec: TaskSpec = WORK, key: AttemptKey = KEY, **options: bool) -> End:
    array = ArraySpec() if key.index is not None else None
    effect = RunTask(key, node(key.path, spec.id, array=array), spec, {}, ORIGIN, **options)
    return await run_attempt(world.services, effect, serialized(a=1))


@pytest.mark.looptime
async def test_a_start_is_reported_while_the_task_runs() -> None:
    world = leaving({"outputs.pb": serialized(o0=5)})
    inputs_uri = world.blobs.uri(layout.attempt_inputs(KEY))
    assert await run(world) == AttemptSucceeded(
        KEY, f"{prefix(world)}/outputs.pb", inputs_uri=inputs_uri, started_at=START
    )
    assert world.reported == [AttemptStarted(KEY, inputs_uri, at=START)]


@pytest.mark.looptime
async def test_a_task_that_never_started_has_no_start() -> None:
    class Refusing:
        outlives = False

        async def refuses(self, task: TaskSpec) -> str:
            return ""

        async def run(self, request: TaskRequest, started: object) -> Exit:
            return Exit(ExitReason.REFUSED, message="no such architecture")

        async def stop(self, key: AttemptKey) -> None: ...

    world = leaving({})
    services = replace(world.services, runner=Refusing())
    ended = await run_attempt(services, RunTask(KEY, node("n1", WORK.id), WORK, {}, ORIGIN), serialized())
    assert isinstance(ended, AttemptFailed)
    assert ended.failure.code == "FailedToBuildResource"
    assert world.reported == []


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("files", "ended", "code", "recoverable"),
    [
        ({"error.pb": error_document("boom 3")}, exited(), "USER:RuntimeError", False),
        ({"error.pb": error_document("r", recoverable=True)}, exited(), "USER:RuntimeError", True),
        ({"error.pb": error_document(), "outputs.pb": serialized(o0=1)}, exited(), "USER:RuntimeError", False),
        ({"error.pb": b"\xff\x00junk"}, exited(), "ErrorFileBadFormat", True),
        ({"error.pb": b""}, exited(), "ErrorFileBadFormat", True),
        ({}, exited(), "OutputsNotFound", True),
        ({"outputs.pb": b""}, exited(), "OutputsNotFound", True),
        ({"outputs.pb": serialized(o0="abc")[:-1]}, exited(), "OutputsNotFound", True),
        ({"outputs.pb": serialized(o0=1)}, exited(3), "Error", True),
        ({}, Exit(ExitReason.TIMED_OUT), "TimeoutExpired", True),
        ({}, Exit(ExitReason.SIGNALLED, 9), "Interrupted", True),
        ({}, Exit(ExitReason.LOST), "ResourceDeletedExternally", True),
    ],
)
async def test_the_files_decide(files: dict[str, bytes], ended: Exit, code: str, recoverable: bool) -> None:
    event = await run(leaving(files, ended))
    assert isinstance(event, AttemptFailed)
    assert (event.failure.code, event.recoverable) == (code, recoverable)


@pytest.mark.looptime
@pytest.mark.parametrize("beside", [{}, {"outputs.pb": serialized(o0=1)}], ids=["alone", "beside outputs"])
async def test_a_plan_wins_over_outputs_and_is_not_read_here(beside: dict[str, bytes]) -> None:
    world = leaving({"futures.pb": b"x", **beside})
    assert await run(world) == Planned(f"{prefix(world)}/futures.pb")


@pytest.mark.looptime
async def test_no_outputs_are_a_success_with_no_file_and_with_an_empty_one() -> None:
    world = leaving({})
    inputs_uri = world.blobs.uri(layout.attempt_inputs(KEY))
    assert await run(world, SILENT) == AttemptSucceeded(KEY, inputs_uri=inputs_uri, started_at=START)
    world = leaving({"outputs.pb": b""})
    assert await run(world, SILENT) == AttemptSucceeded(
        KEY, f"{prefix(world)}/outputs.pb", inputs_uri=inputs_uri, started_at=world.reported[0].at
    )


@pytest.mark.looptime
async def test_an_element_tells_what_its_outputs_take_in_the_list() -> None:
    key = AttemptKey(EXECUTION, "n1", 0, 7)
    event = await run(leaving({"outputs.pb": serialized(o0="x" * 300, dust=1)}), key=key)
    assert isinstance(event, AttemptSucceeded)
    assert event.output_bytes == {"o0": 3 + 3 + 3 + 3 + 300}


@pytest.mark.looptime
async def test_large_outputs_are_measured_without_reading_them_whole() -> None:
    blobs = RecordingBlobs()
    world = World(writing("outputs.pb", serialized(a="a" * MIB, o0="x" * 9_000_000), blobs), blobs=blobs)
    event = await run(world, key=AttemptKey(EXECUTION, "n1", 0, 7))
    assert isinstance(event, AttemptSucceeded)
    assert event.output_bytes["o0"] == 9_000_000 + 4 * 5
    assert sum(size for _, size in blobs.reads) <= MIB


@pytest.mark.looptime
async def test_a_large_error_document_is_read_whole_and_its_message_shortened() -> None:
    event = await run(leaving({"error.pb": error_document("x" * 2_599_999 + "the end")}))
    assert isinstance(event, AttemptFailed)
    assert len(event.failure.message) < 20_000
    assert event.failure.message.endswith("the end")


@pytest.mark.looptime
async def test_the_gate_stands_before_the_runner() -> None:
    world = leaving({})
    inputs = serialized(a=reference("memory://store/v.pb"))
    old = task("old", version="1.2.3")
    services = replace(world.services, offload=OffloadLimits(enabled=False))
    event = await run_attempt(services, RunTask(KEY, node("n1", old.id), old, {}, ORIGIN), inputs)
    assert isinstance(event, AttemptFailed)
    assert (event.failure.code, event.recoverable) == ("LiteralOffloadingDisabled", False)
    assert (world.runner.requests, world.reported) == ([], [])


@pytest.mark.looptime
async def test_a_task_without_a_container_is_the_users_error() -> None:
    event = await run(leaving({}), structs.replace(WORK, type="sql", template=b"\x12\x03sql"))
    assert isinstance(event, AttemptFailed)
    assert event.failure.kind is ErrorKind.USER
    assert "has type 'sql' and no container" in event.failure.message


@pytest.mark.looptime
async def test_inputs_lie_where_the_command_says() -> None:
    world = leaving({"outputs.pb": serialized(o0=5)})
    await run(world)
    (request,) = world.runner.requests
    assert request.argv == (
        "pyflyte-execute",
        "--inputs",
        f"{prefix(world, -2)}/inputs.pb",
        "--output-prefix",
        prefix(world),
    )
    assert values_of(world.blobs.objects[request.argv[2]]) == {"a": 1}
    assert request.prefix_uri == prefix(world)


@pytest.mark.looptime
async def test_trouble_after_the_end_does_not_run_the_task_again() -> None:
    blobs = RecordingBlobs()

    async def script(request: TaskRequest) -> Exit:
        await blobs.put(f"{request.prefix_uri}/outputs.pb", serialized(o0=1))
        blobs.failures = 5
        return exited()

    world = World(script, blobs=blobs)
    event = await run(world)
    assert isinstance(event, AttemptSucceeded)
    assert len(world.runner.requests) == 1


@pytest.mark.looptime
async def test_trouble_of_the_runner_comes_out_as_itself() -> None:
    async def script(request: TaskRequest) -> Exit:
        raise Transient("no slot")

    with pytest.raises(Transient, match="no slot"):
        await run(World(script))


@pytest.mark.looptime
async def test_cancelling_reaches_the_runner() -> None:
    reached = anyio.Event()

    async def script(request: TaskRequest) -> Exit:
        try:
            await anyio.sleep_forever()
        finally:
            reached.set()
        return exited()

    with anyio.move_on_after(5) as scope:
        await run(World(script))
    assert scope.cancelled_caught
    assert reached.is_set()


def prefix(world: World, depth: int = 0) -> str:
    uri = world.blobs.uri(layout.attempt_prefix(KEY))
    return uri if not depth else uri.rpartition("/")[0]
