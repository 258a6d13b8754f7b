"""Scenarios 7 to 10, 12, 21 and 22 of the behaviour reference: policies, clean-up, conditionals, child executions."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from flyteidl.core import literals_pb2, types_pb2
from msgspec import structs

from engine.adapters.memory.scripts import by_node, copies, gives, hangs, literals, raises, takes
from engine.app import Engine
from engine.model.errors import ErrorKind, Failure
from engine.model.graph import Binding, FailurePolicy, NodeSpec, Program
from engine.model.state import Execution, Fact
from engine.wire.natural import natural
from tests.dataplane import literal, packed, serialized, union
from tests.flow.engines import EXECUTION, World
from tests.flow.scenarios import WORK, Run, ended, flow, lone, run
from tests.flow.test_a_workflow_runs_to_its_end import until
from tests.flow.test_conditions_mean_what_authors_mean import compares
from tests.programs import INT, branch, constant, graph, interface, node, plan, program, promise, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

PATIENT = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
CLEAN = task("clean", interface({"x": INT, "err": INT}, {}))


def b_and_c(*more: NodeSpec, policy: FailurePolicy) -> Program:
    return flow(lone("b"), lone("c"), lone("d", "c"), *more, policy=policy)


async def test_7_a_failure_stops_what_runs_and_nothing_more_starts() -> None:
    found = await run(
        b_and_c(policy=FailurePolicy.FAIL_IMMEDIATELY),
        lambda blobs: {"b": takes(1.0, raises(blobs, "b is bad")), "c": takes(60.0, copies(blobs))},
    )
    assert found.told("b", "c", "d", "")[-5:] == ["b FAILED", "FAILING", "c ABORTING", "c ABORTED", "FAILED"]
    assert found.error == Failure("USER:RuntimeError", ErrorKind.USER, "b is bad", "b")
    assert found.at("", "FAILED") == [1]
    assert "d" not in await found.world.nodes()


async def test_8_the_patient_policy_runs_what_can_run_and_skips_the_rest_with_a_fact_each() -> None:
    found = await run(
        b_and_c(lone("e", "b"), lone("f", "d", "e"), policy=PATIENT),
        lambda blobs: {"b": takes(1.0, raises(blobs, "b is bad")), "c": takes(60.0, copies(blobs))},
    )
    assert await found.world.phases() == {
        "b": "FAILED",
        "c": "SUCCEEDED",
        "d": "SUCCEEDED",
        "e": "SKIPPED",
        "f": "SKIPPED",
    }
    assert found.at("e", "SKIPPED") == [1]
    assert found.at("f", "SKIPPED") == found.at("d", "SUCCEEDED") == found.at("", "FAILED") == [60]
    assert found.error.node == "b"


def cleaned() -> Program:
    none = literals_pb2.BindingData(scalar=literals_pb2.Scalar(none_type=literals_pb2.Void()))
    failure = node("fn0", CLEAN.id, bindings=[constant("x", 4), Binding("err", none.SerializeToString())])
    return program([graph("wf", [lone("n0"), lone("n1")], failure=failure)], [WORK, CLEAN])


async def test_9_the_clean_up_runs_after_the_aborts_and_is_told_the_failing_node() -> None:
    """In Flyte the failed_node_id is the clean-up's own."""
    found = await run(cleaned(), lambda blobs: {"n0": takes(1.0, raises(blobs, "ValueError: nope")), "n1": hangs})
    assert found.told("n1", "fn0", "")[-8:] == [
        "FAILING",
        "n1 ABORTING",
        "n1 ABORTED",
        "HANDLING_FAILURE_NODE",
        "fn0 QUEUED",
        "fn0 RUNNING",
        "fn0 SUCCEEDED",
        "FAILED",
    ]
    given = literals(await found.world.blobs.get((await found.world.nodes())["fn0"].inputs_uri))
    assert natural(literals_pb2.Literal.FromString(given["x"])) == 4
    told = literals_pb2.Literal.FromString(given["err"]).scalar.union
    assert told.value.scalar.error == types_pb2.Error(failed_node_id="n0", message="ValueError: nope")
    assert (told.type.simple, told.type.structure.tag) == (types_pb2.ERROR, "FlyteError")
    assert found.error == Failure("USER:RuntimeError", ErrorKind.USER, "ValueError: nope", "n0")


async def test_10_an_abort_runs_no_clean_up() -> None:
    world = World(cleaned(), hangs)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await until(engine, EXECUTION, "n0", "RUNNING")
        await engine.abort(EXECUTION, "enough")
        execution = await engine.wait(EXECUTION)
    found = await ended(world, execution)
    assert (execution.phase.value, execution.abort_cause) == ("ABORTED", "enough")
    assert await world.phases() == {"n0": "ABORTED", "n1": "ABORTED"}
    assert {path for path, _ in found.launches} == {"n0", "n1"}


BOX = packed({"a": {"k": [10, 11]}})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["a", "k", 1], 11),
        (["a", "k", -1], 11),
        (["a", "z"], "key 'z' is not there; there are: 'k'"),
        (["a", "k", 2], "index 2 is out of range: the list has 2 items"),
        (["a", "k", -3], "index -3 is out of range: the list has 2 items"),
    ],
)
async def test_12_a_step_into_a_dataclass(path: list[str | int], expected: int | str) -> None:
    """The author's error here (USER); a negative index counts from the end."""
    steps = [
        types_pb2.PromiseAttribute(**{"string_value" if isinstance(step, str) else "int_value": step})  # type: ignore[arg-type]
        for step in path
    ]
    promised = types_pb2.OutputReference(node_id="n0", var="o0", attr_path=steps)
    bound = Binding("a", literals_pb2.BindingData(promise=promised).SerializeToString())
    reader = structs.replace(node("n1", WORK.id, after=["n0"], bindings=[bound]), sources=("n0",))
    found = await run(flow(lone("n0"), reader), lambda blobs: {"n0": gives(blobs, serialized(o0=BOX))})
    if isinstance(expected, int):
        nodes = await found.world.nodes()
        given = literals(await found.world.blobs.get(nodes["n1"].inputs_uri))
        assert literals_pb2.Literal.FromString(given["a"]) == literal(expected)
        return
    assert (found.error.code, found.error.kind.value, found.error.node) == ("BindingResolutionFailure", "USER", "n1")
    assert "PromiseAttributeResolveError" in found.error.message
    assert found.error.message.endswith(expected)
    assert [path for path, _ in found.launches] == ["n0"]


def choosing(value: object, than: int | float, refusal: str = "") -> tuple[Program, object]:
    arms = {"n0": compares("GT", "n0.o0", than).SerializeToString(), **({} if refusal else {"n1": b""})}
    bodies = [lone("n0"), lone("n1")][: len(arms)]
    spec = branch("c", arms, bodies, bindings=[promise("n0.o0", "n0")], refusal=refusal)
    return flow(lone("n0"), spec, lone("join", "c")), value


@pytest.mark.parametrize(
    ("value", "than", "taken"),
    [(11, 10, "n0"), (10, 10, "n1"), (11, 10.5, "n0"), (10, 10.5, "n1"), (union(11), 10, "n0"), (union(3), 10, "n1")],
)
async def test_21_the_arm_that_is_taken(value: object, than: int | float, taken: str) -> None:
    """Comparing an int with a float, or an Optional, fails in Flyte."""
    whole, value = choosing(value, than)
    found = await run(whole, lambda blobs: {"n0": gives(blobs, serialized(o0=value))})
    other = "n1" if taken == "n0" else "n0"
    assert found.execution.phase.value == "SUCCEEDED"
    assert found.launches == [("n0", 0), (f"c/0/{taken}", 0), ("join", 0)]
    assert found.told("c", "c/0/n0", "c/0/n1") == [
        "c QUEUED",
        "c RUNNING",
        f"c/0/{other} SKIPPED",
        f"c/0/{taken} QUEUED",
        f"c/0/{taken} RUNNING",
        f"c/0/{taken} SUCCEEDED",
        "c SUCCEEDED",
    ]
    nodes = await found.world.nodes()
    assert nodes["c"].outputs_uri == nodes[f"c/0/{taken}"].outputs_uri


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (3, "UserProvidedError", "too small"),
        (
            "11",
            "MalformedBranchUserError",
            "condition 1 of conditional 'c' can't be evaluated: n0.o0 = '11' (str) > 10 (int) compares a text with a "
            "number",
        ),
        (
            union(None),
            "MalformedBranchUserError",
            "condition 1 of conditional 'c' can't be evaluated: n0.o0 = None > 10 (int) compares None, which has no "
            "order",
        ),
    ],
)
async def test_21_no_arm_is_taken(value: object, code: str, message: str) -> None:
    whole, value = choosing(value, 10, "too small")
    found = await run(whole, lambda blobs: {"n0": gives(blobs, serialized(o0=value))})
    assert found.error == Failure(code, ErrorKind.USER, message, "c")
    assert await found.world.phases() == {"c": "FAILED", "n0": "SUCCEEDED"}


async def test_21_an_arm_that_takes_too_long_ends_its_branch() -> None:
    """User case S20: the error names the inner node."""
    arm = lone("n0", timeout=5.0)
    whole = flow(lone("n0"), branch("c", {"n0": b""}, [arm], after=["n0"]), lone("join", "c"))
    found = await run(whole, lambda blobs: {"c/0/n0": hangs})
    assert (found.error.code, found.error.node) == ("RetriesExhausted|TimeoutExpired", "c/0/n0")
    assert found.at("", "FAILED") == [5]
    assert await found.world.phases() == {"c": "FAILED", "c/0/n0": "FAILED", "n0": "SUCCEEDED"}


CHILD = graph("child", [lone("n0")])
PLAN = plan("plan", CHILD)
PARENT = program([graph("wf", [node("lp", PLAN.id)]), CHILD], [WORK], [PLAN])


async def _parent(whom: str) -> Run:
    """The parent or the child is aborted while the child runs."""
    world = World(PARENT, hangs)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await _child_runs(engine)
        child = await world.child("lp")
        await engine.abort(EXECUTION if whom == "parent" else child.id, "by hand")
        execution = await engine.wait(EXECUTION)
    return await ended(world, execution)


async def _child_runs(engine: Engine) -> None:
    seen = anyio.Event()

    def see(_: Sequence[Execution], facts: Sequence[Fact]) -> None:
        if any((fact.path, fact.phase) == ("n0", "RUNNING") for fact in facts):
            seen.set()

    with engine.watchers.watching(see):
        await seen.wait()


async def test_22_a_child_that_fails() -> None:
    world = World(PARENT)
    world.runner.script = by_node({"n0": raises(world.blobs, "no")}, copies(world.blobs))
    found = await ended(world, await world.run())
    child = (await world.child("lp")).id
    assert found.error == Failure(
        "USER:RuntimeError", ErrorKind.USER, f"child execution {child.name} failed at node n0: no", "lp"
    )
    assert found.told("lp") == ["lp QUEUED", "lp RUNNING", "lp FAILED"]


async def test_22_a_child_that_is_aborted() -> None:
    found = await _parent("child")
    assert (found.error.code, found.error.kind.value) == ("RemoteChildWorkflowExecutionFailed", "USER")
    assert found.error.message.endswith("was aborted: by hand")


async def test_22_a_parent_that_is_aborted_takes_its_child_along() -> None:
    found = await _parent("parent")
    child = await found.world.child("lp")
    assert (found.execution.phase.value, child.phase.value) == ("ABORTED", "ABORTED")
    assert child.abort_cause == "cascading abort from parent execution p:d:e1, node lp: by hand"
