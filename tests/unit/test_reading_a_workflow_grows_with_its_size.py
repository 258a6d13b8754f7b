"""Reading a workflow must not grow faster than the workflow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flyteidl.core.workflow_pb2 import Node

from engine.wire.compile import compile_package
from engine.wire.registration import register
from tests.lines import lines_of
from tests.literal_types import INT
from tests.packages import complaints, files, given, node, output, task, workflow

SMALL, LARGE = 200, 2_000
GROWTH = 12
"""What grows with the square grows by 100 between them."""


def chain(size: int) -> list[Node]:
    return [node(f"n{i}", {"a": output(f"n{i - 1}") if i else given("n")}) for i in range(size)]


def fan(size: int) -> list[Node]:
    return [node(f"n{i}", {"a": output("n0") if i else given("n")}) for i in range(size)]


def funnel(size: int) -> list[Node]:
    many = [node(f"n{i}", {"a": given("n")}) for i in range(size)]
    return [*many, node("last", {"a": given("n")}, after=[one.id for one in many])]


@pytest.mark.parametrize("shape", [chain, fan, funnel])
def test_of_any_shape(shape: Callable[[int], list[Node]]) -> None:
    def lines(size: int) -> int:
        given_files = files(task("m.t"), workflow("m.w", *shape(size), gives={"o0": (INT, given("n"))}))
        return lines_of(lambda: compile_package(register(given_files, project="p", domain="d")))

    assert lines(LARGE) < GROWTH * lines(SMALL)


@pytest.mark.parametrize("shape", [chain, fan, funnel])
def test_ten_thousand_nodes_are_no_problem(shape: Callable[[int], list[Node]]) -> None:
    given_files = files(task("m.t"), workflow("m.w", *shape(10_000), gives={"o0": (INT, given("n"))}))
    assert compile_package(register(given_files, project="p", domain="d")).problems == ()


def test_many_cycles_are_cut_short() -> None:
    def lines(size: int) -> int:
        pairs = [node(f"n{i}", {"a": given("n")}, after=[f"n{i ^ 1}"]) for i in range(size)]
        found: list[str] = []
        count = lines_of(lambda: found.extend(complaints(task("m.t"), workflow("m.w", *pairs))))
        assert len(found) == 10
        return count

    assert lines(LARGE) < GROWTH * lines(SMALL)
