"""Reading a workflow must not grow faster than the workflow."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from flyteidl.core.workflow_pb2 import Node

from engine.wire.compile import compile_package
from engine.wire.registration import register
from tests.literal_types import INT
from tests.packages import complaints, files, given, node, output, task, workflow

SIZE = 10_000
LIMIT_SECONDS = 2.0
"""CPU time; it takes about a fifth of that."""


def chain() -> list[Node]:
    return [node(f"n{i}", {"a": output(f"n{i - 1}") if i else given("n")}) for i in range(SIZE)]


def fan() -> list[Node]:
    return [node(f"n{i}", {"a": output("n0") if i else given("n")}) for i in range(SIZE)]


def funnel() -> list[Node]:
    many = [node(f"n{i}", {"a": given("n")}) for i in range(SIZE)]
    return [*many, node("last", {"a": given("n")}, after=[one.id for one in many])]


@pytest.mark.parametrize("shape", [chain, fan, funnel])
def test_of_any_shape(shape: Callable[[], list[Node]]) -> None:
    given_files = files(task("m.t"), workflow("m.w", *shape(), gives={"o0": (INT, given("n"))}))
    started = time.process_time()
    compiled = compile_package(register(given_files, project="p", domain="d"))
    assert time.process_time() - started < LIMIT_SECONDS
    assert compiled.problems == ()


def test_many_cycles_are_cut_short() -> None:
    pairs = [node(f"n{i}", {"a": given("n")}, after=[f"n{i ^ 1}"]) for i in range(SIZE)]
    started = time.process_time()
    assert len(complaints(task("m.t"), workflow("m.w", *pairs))) == 10
    assert time.process_time() - started < LIMIT_SECONDS
