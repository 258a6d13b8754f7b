"""A chain of conditionals, and a long chain of tasks."""

from __future__ import annotations

import statistics

from flyteidl.core.condition_pb2 import BooleanExpression, ComparisonExpression

from benchmarks.figures import Figure
from benchmarks.programs import integer, literal_map
from benchmarks.reference import step_seconds
from benchmarks.workloads import run_one
from benchmarks.worlds import engine_on, fresh_home
from engine.model.graph import NodeSpec, Program
from tests.programs import branch, chain, constant, graph, node, program, promise, task

ONE = literal_map(o0=integer(1))
CONDITIONALS, LONG = 100, 2_000


def conditionals(length: int) -> Program:
    """Each looks at what the one before it gave, and hands it to the task of its second arm."""
    work = task("work")
    nodes: list[NodeSpec] = [node("n0", work.id, bindings=[constant("a", 1)])]
    for k in range(1, length + 1):
        before = f"n{k - 1}"
        comparison = ComparisonExpression(operator=ComparisonExpression.GT)
        comparison.left_value.var = f"{before}.o0"
        comparison.right_value.primitive.integer = 5
        condition = BooleanExpression(comparison=comparison).SerializeToString()
        arms = [node(f"n{arm}", work.id, after=[before], bindings=[promise("a", before)]) for arm in (0, 1)]
        bindings = [promise(f"{before}.o0", before)]
        nodes.append(branch(f"n{k}", {"n0": condition, "n1": b""}, arms, bindings=bindings))
    return program([graph("wf", nodes)], [work])


async def branches_100() -> list[Figure]:
    """Two nodes each: the conditional and its arm."""
    whole = conditionals(CONDITIONALS)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, whole, ONE) as engine:
            times = [await run_one(engine, whole, number) for number in range(4)]
    value = statistics.median(times[1:]) / CONDITIONALS
    words = f"chain of {CONDITIONALS} conditionals, each with its arm"
    return [Figure("branch-100", value * 1e3, "ms each", 2 * step * 1e3, value / (2 * step), words)]


async def chain_2000() -> list[Figure]:
    whole = chain(LONG)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, whole, ONE) as engine:
            times = [await run_one(engine, whole, number) for number in range(2)]
    value = times[1] / LONG
    words = f"chain of {LONG:,} nodes"
    return [Figure("chain-2000", value * 1e3, "ms/node", step * 1e3, value / step, words)]
