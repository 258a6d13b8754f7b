"""`propwash logs`: which attempt a person means, and what there is in place of one that there is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.cli.printed import Asked, find_attempt
from engine.model.errors import BadInput, Failure
from engine.model.graph import ArraySpec, FailurePolicy, Program
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.state import Execution, Snapshot
from tests import programs
from tests.simulation import EXECUTION, Script, Simulation, recoverable, user_error


class Stored:
    """What a simulation has decided, as a log."""

    def __init__(self, world: Simulation) -> None:
        self._world = world

    async def executions(self) -> Sequence[Execution]:
        return [state.record for state in self._world.states.values()]

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        state = self._world.states.get(execution)
        return Snapshot(state.record, tuple(state.nodes.values())) if state else None


async def found(
    program: Program,
    node: str,
    script: Script = lambda key: None,
    *,
    size: int = 0,
    index: int | None = None,
    attempt: int | None = None,
) -> AttemptKey:
    log = Stored(Simulation(program, script, size=size).run())
    snapshot = await log.snapshot(EXECUTION)
    assert snapshot is not None
    return await find_attempt(log, snapshot, Asked("e1", node, index, attempt))


def mapped() -> Program:
    work = programs.task("work")
    node = programs.node(
        "n0", programs.mapped(work).id, array=ArraySpec(parallelism=1, min_success_ratio=0.5), retries=1
    )
    return programs.program([programs.graph("wf", [node])], [programs.mapped(work)])


async def test_the_last_attempt_unless_another_is_asked_for() -> None:
    def script(key: AttemptKey) -> Failure | None:
        return recoverable() if key.attempt < 2 else None

    chain = programs.chain(1, retries=2)
    assert await found(chain, "n0", script) == AttemptKey(EXECUTION, "n0", 2)
    assert await found(chain, "n0", script, attempt=1) == AttemptKey(EXECUTION, "n0", 0)
    for wrong in (0, 4, -1):
        with pytest.raises(BadInput, match=f"node n0 of execution e1, .* has had no attempt {wrong}; there are 1 to 3"):
            await found(chain, "n0", script, attempt=wrong)


async def test_an_element_by_its_index() -> None:
    def script(key: AttemptKey) -> Failure | None:
        return user_error() if key.index == 3 else recoverable() if key.index == 1 and not key.attempt else None

    for node, index in (("n0[1]", None), ("n0", 1), ("n0[1]", 1)):
        assert await found(mapped(), node, script, size=8, index=index) == AttemptKey(EXECUTION, "n0", 1, 1, 0)
    assert (await found(mapped(), "n0[1]", script, size=8, attempt=1)).attempt == 0
    for wrong, other, message in (
        (
            "n0",
            None,
            r"n0 .* is a map: name one of its elements; there are n0\[0\] to n0\[7\], of which \[3\] failed",
        ),
        ("n0[8]", None, "it has no element 8; there are "),
        ("n0[1]", 2, r"n0\[1\] and --index 2 name two elements"),
    ):
        with pytest.raises(BadInput, match=message):
            await found(mapped(), wrong, script, size=8, index=other)
    with pytest.raises(BadInput, match=r"element 1 of node n0 .* has had no attempt 3; there are 1 to 2"):
        await found(mapped(), "n0[1]", script, size=8, attempt=3)
    with pytest.raises(BadInput, match="is a map of no elements"):
        await found(mapped(), "n0[0]", script)


async def test_an_element_that_was_never_started() -> None:
    strict = programs.mapped(programs.task("work"))
    node = programs.node("n0", strict.id, array=ArraySpec(parallelism=1))
    program = programs.program([programs.graph("wf", [node])], [strict])
    with pytest.raises(BadInput, match="element 2 of node n0 of execution e1 has had no attempt"):
        await found(program, "n0[2]", lambda key: user_error(), size=3)


async def test_nodes_that_print_nothing_say_where_to_look() -> None:
    work = programs.task("work")
    inner = programs.graph("inner", [programs.node("n0", work.id)])
    plan = programs.plan("plan", inner)
    nodes = [
        programs.node("n0", inner.id),
        programs.node("n1", plan.id),
        programs.node("n2", work.id, after=["n3"]),
        programs.node("n3", work.id),
    ]
    program = programs.program([programs.graph("wf", nodes), inner], [work], [plan])

    def script(key: AttemptKey) -> Failure | None:
        return user_error() if key.path == "n3" else None

    for node, message in (
        ("n0", "is a sub-workflow, which prints nothing itself; inside it are n0/0/n0$"),
        (
            "n1",
            "is a launch plan, which prints nothing itself; see its child execution f[0-9a-f]{32}, with the nodes n0$",
        ),
        ("n9", "there is no node 'n9' yet in execution e1; there are n0, n1, n3, n0/0/n0$"),
        ("start-node", "there is no node 'start-node' yet"),
        ("n3[0]", "n3 of execution e1 is no map: it has no element 0"),
    ):
        with pytest.raises(BadInput, match=message):
            await found(program, node, script)


async def test_a_skipped_node_has_had_no_attempt() -> None:
    work = programs.task("work")
    nodes = [programs.node("n0", work.id), programs.node("n1", work.id, after=["n0"])]
    graph = programs.graph("wf", nodes, policy=FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
    with pytest.raises(BadInput, match="node n1 of execution e1, which is SKIPPED, has had no attempt"):
        await found(programs.program([graph], [work]), "n1", lambda key: user_error())


async def test_without_a_node_the_failure_is_meant_or_the_only_node() -> None:
    assert await found(programs.chain(1), "") == AttemptKey(EXECUTION, "n0", 0)
    assert await found(programs.chain(3), "", lambda key: user_error() if key.path == "n1" else None) == AttemptKey(
        EXECUTION, "n1", 0
    )
    strict = programs.mapped(programs.task("work"))
    program = programs.program(
        [programs.graph("wf", [programs.node("n0", strict.id, array=ArraySpec(parallelism=1))])], [strict]
    )
    fails = {"script": lambda key: user_error() if key.index == 2 else None, "size": 4}
    assert (await found(program, "", **fails)).index == 2  # type: ignore[arg-type]
    assert (await found(program, "", **fails, index=1)).index == 1  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"^which node of execution e1\? There are n0, n1, n2$"):
        await found(programs.chain(3), "")
