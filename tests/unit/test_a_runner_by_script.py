"""The NoopRunner and its scripts: what flow tests and benchmarks build on."""

from __future__ import annotations

import anyio
import pytest
from flyteidl.core import errors_pb2
from msgspec import structs

from engine.adapters.memory import scripts
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import Mark, NoopRunner, What
from engine.model.errors import Defect
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.dataplane import serialized, values_of
from tests.programs import INT, STR, interface, task

pytestmark = pytest.mark.looptime
EXECUTION = ExecutionId("p", "d", "e")
TASK = task("t", interface({"a": INT, "b": STR}, {"o0": INT, "o1": STR, "o2": INT}))


def request(attempt: int = 0, *, index: int | None = None, node: str = "n0", spec: TaskSpec = TASK) -> TaskRequest:
    key = AttemptKey(EXECUTION, node, attempt, index)
    argv = ("pyflyte-execute", "--inputs", "memory://store/in.pb", "--output-prefix", "x")
    return TaskRequest(key, spec, argv, {}, f"memory://store/{node}/{attempt}")


def nothing() -> None:
    pass


async def outputs(spec: TaskRequest, inputs: bytes) -> bytes:
    blobs = MemoryBlobs()
    await blobs.put("memory://store/in.pb", inputs)
    assert await NoopRunner(scripts.copies(blobs)).run(spec, nothing) == scripts.SUCCESS
    return blobs.objects[f"{spec.prefix_uri}/outputs.pb"]


async def test_outputs_are_the_inputs_in_order_and_then_zeros() -> None:
    assert values_of(await outputs(request(), serialized(b="x", a=7))) == {"o0": 7, "o1": "x", "o2": 0}


async def test_an_element_gives_the_item_of_its_list() -> None:
    one = task("t", interface({"a": INT}, {"o0": INT}))
    assert values_of(await outputs(request(index=3, spec=one), serialized(a=[7]))) == {"o0": 7}


async def test_a_task_without_outputs_writes_an_empty_map() -> None:
    assert await outputs(request(spec=task("t", interface({"a": INT}))), b"") == b""


async def test_outcomes_per_attempt() -> None:
    """Raise recoverable twice, then succeed."""
    blobs = MemoryBlobs()
    again = scripts.raises(blobs, "again", recoverable=True)
    runner = NoopRunner(scripts.by_attempt(again, again, scripts.gives(blobs, serialized(o0=9))))
    for attempt in range(4):
        await runner.run(request(attempt), nothing)
    assert sorted(blobs.objects) == [
        "memory://store/n0/0/error.pb",
        "memory://store/n0/1/error.pb",
        "memory://store/n0/2/outputs.pb",
        "memory://store/n0/3/outputs.pb",
    ]
    assert list(runner.launches.values()) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("recoverable", "system", "code"),
    [(True, False, "USER:Recoverable"), (False, False, "USER:RuntimeError"), (True, True, "SYSTEM")],
)
async def test_error_documents_are_flytekits(recoverable: bool, system: bool, code: str) -> None:
    blobs = MemoryBlobs()
    await NoopRunner(scripts.raises(blobs, "größer", recoverable=recoverable, system=system)).run(request(), nothing)
    error = errors_pb2.ErrorDocument.FromString(blobs.objects["memory://store/n0/0/error.pb"]).error
    numbers = int(error.kind), int(error.origin)
    assert (error.code, error.message, *numbers) == (code, "größer", int(recoverable), 2 if system else 1)


async def test_scripts_by_node_and_element() -> None:
    script = scripts.by_node({"n1": scripts.exits(1), "n1[2]": scripts.exits(2)}, scripts.exits(0))
    runner = NoopRunner(script)
    ends = [
        (await runner.run(request(index=index, node=node), nothing)).code
        for node, index in (("n0", None), ("n1", None), ("n1", 1), ("n1", 2))
    ]
    assert ends == [0, 1, 1, 2]


async def test_starts_and_ends_leave_marks() -> None:
    runner = NoopRunner(scripts.takes(5, scripts.exits(0)), max_concurrent=1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runner.run, request(node="n0"), nothing)
        tasks.start_soon(runner.run, request(node="n1"), nothing)
    first, second = request(node="n0").key, request(node="n1").key
    assert runner.marks == [
        Mark(What.STARTED, first, 0.0),
        Mark(What.ENDED, first, 5.0),
        Mark(What.STARTED, second, 5.0),
        Mark(What.ENDED, second, 10.0),
    ]
    assert runner.most_alive == 1


@pytest.mark.parametrize(("attempt", "node_attempt"), [(1, 0), (0, 1)])
async def test_two_live_attempts_of_one_node_are_a_defect(attempt: int, node_attempt: int) -> None:
    runner = NoopRunner(scripts.hangs)
    first = request(index=4)
    second = structs.replace(first, key=structs.replace(first.key, attempt=attempt, node_attempt=node_attempt))
    async with anyio.create_task_group() as tasks:
        running = anyio.Event()
        tasks.start_soon(runner.run, first, running.set)
        await running.wait()
        with pytest.raises(Defect, match="of the same node runs"):
            await runner.run(second, nothing)
        tasks.cancel_scope.cancel()


async def test_a_hanging_attempt_runs_until_its_timeout_or_its_stop() -> None:
    runner = NoopRunner(scripts.hangs)
    ended = await runner.run(structs.replace(request(), timeout_seconds=3600.0), nothing)
    assert (ended.reason, anyio.current_time()) == (ExitReason.TIMED_OUT, 3600.0)
    async with anyio.create_task_group() as tasks:
        running = anyio.Event()
        ends: list[Exit] = []

        async def run() -> None:
            ends.append(await runner.run(request(), running.set))

        tasks.start_soon(run)
        await running.wait()
        await runner.stop(request().key)
    assert ends[0].reason is ExitReason.SIGNALLED
