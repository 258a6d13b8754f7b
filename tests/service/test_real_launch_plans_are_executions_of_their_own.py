"""Launch plans: their defaults and fixed inputs, plans of plans, children that fail, plans that are run by name."""

from __future__ import annotations

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

CASES = {
    "defaults-and-fixed-inputs": Case("launching", "calls", {"n": 3}),
    "a-plan-of-plans": Case("launching", "plan_of_plan"),
    "the-same-plan-twice": Case("launching", "twice", {"n": 2}),
    "a-child-that-could-fail": Case("launching", "calls_failing", {"n": 1}),
    "order-without-data": Case("launching", "ordered", {"n": 1}),
    "inputs-passed-on": Case("launching", "passes", {"n": 4}),
    "rich-inputs": Case("launching", "calls_rich"),
}
BY_HAND = {
    "a-child-fails": Case("launching", "calls_failing", {"n": 4}, local=False),
    "deep-child-fails": Case("launching", "in_a_sub", {"n": 4}, local=False),
    "by-name": Case("launching", "with-defaults", local=False),
    "with-an-input": Case("launching", "with.fixed", {"c": "q"}, local=False),
    "all-fixed": Case("launching", "All_Fixed", local=False),
    "rich": Case("launching", "rich-plan", local=False),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_cases({**CASES, **BY_HAND}, tmp_path_factory.mktemp("plans") / "home")


@pytest.mark.parametrize("name", CASES)
def test_the_outputs_are_those_of_local_execution(results: Results, name: str) -> None:
    assert results.outputs(name) == results.local[name]


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("by-name", {"text": "10 2 dé", "n": 12}),
        ("with-an-input", {"text": "1 7 q", "n": 8}),
        ("all-fixed", {"text": "1 2 3", "n": 3}),
        ("rich", {"o0": "Point(x=4, name='d') 2024-01-02T00:00:00+00:00 green 3 None"}),
    ],
)
def test_a_launch_plan_is_run_by_its_name(results: Results, name: str, outputs: dict[str, object]) -> None:
    assert results.outputs(name) == outputs


@pytest.mark.parametrize(("name", "node"), [("a-child-fails", "n0"), ("deep-child-fails", "n0/0/n0")])
def test_a_childs_error_names_the_child_and_its_node(results: Results, name: str, node: str) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == ("USER:RuntimeError", "USER", node)
    assert error["message"].startswith("child execution f")
    assert " failed at node n0: " in error["message"]
    assert "ValueError: boom 4" in error["message"]
