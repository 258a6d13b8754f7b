"""Conditionals as flytekit writes them, against its own local execution; user case S20."""

from __future__ import annotations

import pytest

from engine.wire.compile import compile_package
from engine.wire.packaging import read_workflows
from engine.wire.registration import register
from tests.service.conformance import WORKFLOWS, Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

INPUTS: dict[str, list[dict[str, object]]] = {
    "joined": [{"x": 6}, {"x": 4}],
    "refusing": [{"x": 1}, {"x": -20}],
    "late": [{"t": "1.5s"}, {"t": "1s"}, {"t": "1.000001s"}],
    "since": [{"at": "2024-05-17T09:30:00Z"}, {"at": "2024-05-17T09:29:59.999999Z"}],
    "comparators": [{"a": 5, "x": 2.0}, {"a": 1, "x": 3.5}],
    "texts_and_truths": [{"s": "yes", "b": True}, {"s": "no", "b": False}],
    "optionals": [{"n": 3}, {"n": 4}, {"n": -1}],
    "mixed_numbers": [{"a": 10}, {"a": 9}],
    "nested": [{"x": 12}, {"x": 7}, {"x": 1}, {"x": 2}, {"x": -12}],
    "two_outputs": [{"n": 3}, {"n": -3}],
    "of_launch_plans": [{"n": 20}, {"n": 6}, {"n": 5}],
    "of_maps": [{"n": 6, "ns": [1, 2, 3]}, {"n": 1, "ns": [1, 2]}, {"n": 1, "ns": []}],
    "failing_arm": [{"n": 0}],
}
CASES = {
    f"{entity.replace('_', '-')}-{number}": Case("conditionals", entity, inputs)
    for entity, given in INPUTS.items()
    for number, inputs in enumerate(given)
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    failing = {
        "refused": Case("conditionals", "refusing", {"x": -5}, local=False),
        "refused-inside": Case("conditionals", "nested", {"x": -2}, local=False),
        "bad-arm": Case("conditionals", "failing_arm", {"n": 3}, local=False),
        "no-order": Case("conditionals", "no_order", {"b": True, "n": 3}, local=False),
        "a-list": Case("conditionals", "lists", {"ns": [1, 2]}, local=False),
    }
    return run_cases({**CASES, **failing}, tmp_path_factory.mktemp("real") / "home")


@pytest.mark.parametrize("name", CASES)
def test_the_outputs_are_those_of_local_execution(results: Results, name: str) -> None:
    assert results.outputs(name) == results.local[name]


def test_the_other_arm_is_skipped_and_the_outputs_are_the_arms_own(results: Results) -> None:
    found = {node["path"]: (node["kind"], node["phase"]) for node in results.documents["joined-0"]["nodes"]}
    assert found == {
        "n0": ("branch", "SUCCEEDED"),
        "n0/0/n0": ("task", "SUCCEEDED"),
        "n0/0/n1": ("task", "SKIPPED"),
        "n1": ("task", "SUCCEEDED"),
    }
    assert results.node("joined-0", "n0")["outputs_uri"] == results.node("joined-0", "n0/0/n0")["outputs_uri"]
    assert results.stored(results.node("joined-0", "n0")["inputs_uri"]) == {".x": 6}


@pytest.mark.parametrize(
    ("name", "code", "node", "message"),
    [
        ("refused", "UserProvidedError", "n0", "x must not be in [-10,0]"),
        ("refused-inside", "UserProvidedError", "n2", "between -5 and 0"),
        ("bad-arm", "USER:RuntimeError", "n0/0/n0", "ValueError: arm 3"),
        (
            "no-order",
            "MalformedBranchUserError",
            "n0",
            "condition 1 of conditional 'order' can't be evaluated: .b = True (bool) > True (bool) compares booleans, "
            "which have no order",
        ),
        ("a-list", "MalformedBranchUserError", "n0", ".ns = a list of 2 items == 3 (int)"),
    ],
)
def test_what_fails_names_its_node(results: Results, name: str, code: str, node: str, message: str) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == (code, "USER", node)
    assert message in error["message"]


async def test_calls_that_flytekit_dropped_are_refused() -> None:
    files = await read_workflows(WORKFLOWS / "dropped_calls.py")
    package = register(files, project="p", domain="d", version="v1")
    found = {str(problem).split(":")[0] for problem in compile_package(package).problems}
    assert found == {
        "workflow dropped_calls.nowhere, node n0",
        "workflow dropped_calls.elsewhere, node n1",
        "workflow dropped_calls.in_a_condition, node n1",
    }
