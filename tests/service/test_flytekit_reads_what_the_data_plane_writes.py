"""Real flytekit tasks in real processes read offloaded lists and one-item element inputs; their files decide."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from flyteidl.core import literals_pb2, tasks_pb2, types_pb2
from msgspec import structs

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.storecache import StoreCache
from engine.adapters.systemclock import SystemClock
from engine.data.attempt import End, run_attempt
from engine.data.elements import element_inputs, prepare_array
from engine.data.gather import gather
from engine.data.resolve import resolve
from engine.model.effects import PrepareArray, RunElement, RunTask
from engine.model.events import AttemptFailed, AttemptSucceeded
from engine.model.graph import ArraySpec, Binding, TaskSpec
from engine.model.ids import AttemptKey
from engine.model.limits import OffloadLimits
from engine.ports.services import Services
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.dataplane import ALWAYS, EXECUTION, ORIGIN, finished_map, gathering, promise, values_of
from tests.programs import INT, STR, interface, list_of, mapped, node, task

pytestmark = pytest.mark.service("flytekit")

MODULE = """
import os
from flytekit import task

@task
def total(ns: list[int], more: dict[str, list[int]]) -> int:
    return sum(ns) + sum(sum(found) for found in more.values())

@task
def describe(n: int, by: list[int]) -> str:
    index = os.environ[os.environ["BATCH_JOB_ARRAY_INDEX_VAR_NAME"]]
    if n == 9:
        raise ValueError(f"element {index} has {n}")
    return f"{index}: {n} by {by}"
"""
COMMON = """ --inputs {{.input}} --output-prefix {{.outputPrefix}} --raw-output-data-prefix {{.rawOutputDataPrefix}}
 --checkpoint-path {{.checkpointOutputPrefix}} --prev-checkpoint {{.prevCheckpointPrefix}} --resolver"""
RESOLVER = "flytekit.core.python_auto_container.default_task_resolver"
MAP_RESOLVER = "flytekit.core.array_node_map_task.ArrayNodeMapTaskResolver"


class Processes:
    """A TaskRunner that starts one process an attempt and waits for it."""

    outlives = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def refuses(self, task: TaskSpec) -> str:
        return ""

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        env = {**os.environ, **request.env, "PYTHONPATH": str(self.folder), "TMPDIR": str(self.folder)}
        program = Path(sys.executable).with_name(request.argv[0])
        process = await asyncio.create_subprocess_exec(
            program, *request.argv[1:], env=env, cwd=self.folder, stderr=asyncio.subprocess.PIPE
        )
        started()
        _, said = await process.communicate()
        return Exit(ExitReason.EXITED, process.returncode or 0, said.decode(errors="replace")[-500:])

    async def stop(self, key: AttemptKey) -> None: ...


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    (tmp_path / "authored.py").write_text(MODULE)

    def report(started: object) -> None: ...

    async with FileBlobs.open(tmp_path / "store") as blobs:
        yield Services(blobs, Processes(tmp_path), SystemClock(), OffloadLimits(), StoreCache(blobs), report)


def commanded(spec: TaskSpec, command: str) -> TaskSpec:
    template = tasks_pb2.TaskTemplate(container=tasks_pb2.Container(image="img:1", args=command.split()))
    return structs.replace(spec, template=template.SerializeToString())


TOTAL = commanded(
    task(
        "total",
        interface({"ns": list_of(INT), "more": types_pb2.LiteralType(map_value_type=list_of(INT))}, {"o0": INT}),
    ),
    f"pyflyte-execute {COMMON} {RESOLVER} -- task-module authored task-name total",
)
DESCRIBE = commanded(
    task("map_describe", interface({"n": list_of(INT), "by": list_of(INT)}, {"o0": list_of(STR)})),
    f"pyflyte-map-execute {COMMON} {MAP_RESOLVER} -- vars by"
    f" resolver {RESOLVER} task-module authored task-name describe",
)


async def numbers(services: Services, values: list[int], variable: str = "o0") -> str:
    """Outputs whose one variable is a list that the engine offloaded."""
    elements = await finished_map(services.blobs, values, variable)
    spec = mapped(task("t", interface({}, {variable: INT})))
    return await gather(services.blobs, ALWAYS, gathering(spec, elements))


async def read(services: Services, event: End) -> object:
    assert isinstance(event, AttemptSucceeded), event
    return values_of(await services.blobs.get(event.outputs_uri))["o0"]


@pytest.mark.parametrize("version", ["1.16.0", "1.13.0"], ids=["by reference", "materialised"])
async def test_a_task_reads_an_offloaded_list_wherever_it_stands(services: Services, version: str) -> None:
    source = await numbers(services, [1, 20, 300])
    ns = literals_pb2.BindingData.FromString(promise("ns", "n1").data)
    more = literals_pb2.BindingData(map=literals_pb2.BindingDataMap(bindings={"a": ns, "b": ns}))
    bindings = [promise("ns", "n1"), Binding("more", more.SerializeToString())]
    inputs = await resolve(services.blobs, bindings, {"n1": source})
    spec = structs.replace(TOTAL, runtime_version=version)
    ended = await run_attempt(
        services, RunTask(AttemptKey(EXECUTION, "n3"), node("n3", spec.id), spec, {}, ORIGIN), inputs
    )
    assert await read(services, ended) == 3 * 321


async def test_elements_read_one_item_and_know_their_index(services: Services) -> None:
    source = await numbers(services, [4, 5, 9])
    spec = node(
        "n4",
        DESCRIBE.id,
        bindings=[promise("n", "n1"), promise("by", "n1")],
        array=ArraySpec(bound_inputs=frozenset({"by"})),
    )
    effect = PrepareArray(AttemptKey(EXECUTION, "n4"), spec, DESCRIBE, {"n1": source})
    uri, size = await prepare_array(services.blobs, OffloadLimits(), effect)
    assert size == 3
    ends = []
    for index in (1, 2):
        key = AttemptKey(EXECUTION, "n4", 0, index)
        element = RunElement(key, spec, DESCRIBE, uri, size, ORIGIN)
        ends.append(await run_attempt(services, element, await element_inputs(services.blobs, element)))
    assert await read(services, ends[0]) == "1: 5 by [4, 5, 9]"
    assert isinstance(ends[1], AttemptFailed)
    assert "element 2 has 9" in ends[1].failure.message
    assert ends[1].failure.code == "USER:RuntimeError"
