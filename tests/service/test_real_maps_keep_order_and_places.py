"""Map tasks: against flytekit's local execution where it can run them, else against values given by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

TEN = list(range(10))
CASES = {
    "one-list": Case("mapping", "plain", {"ns": [3, 1, 2]}),
    "maps-of-maps": Case("mapping", "chained", {"ns": [1, 2]}),
    "empty-maps-of-empty-maps": Case("mapping", "chained", {"ns": []}),
    "a-literal-list": Case("mapping", "literal"),
    "a-list-of-promises": Case("mapping", "of_promises", {"n": 3}),
    "two-lists": Case("mapping", "two_lists", {"ns": [1, 2], "texts": ["a", "é"]}),
    "two-empty-lists": Case("mapping", "two_lists", {"ns": [], "texts": []}),
    "bound-inputs": Case("mapping", "partials", {"ns": [1, 2], "b": [4]}),
    "bound-inputs-of-empty-maps": Case("mapping", "partials", {"ns": [], "b": [4]}),
    "a-bound-list-of-a-promise": Case("mapping", "bound_list"),
    "half-is-enough": Case("mapping", "half", {"ns": TEN, "bad": [3, 4, 8, 9]}),
    "exactly-half": Case("mapping", "half", {"ns": TEN, "bad": [0, 1, 2, 3, 4]}),
    "half-of-nothing": Case("mapping", "half", {"ns": [], "bad": []}),
    "exactly-six-tenths": Case("mapping", "six_tenths", {"ns": TEN, "bad": [0, 2, 5, 9]}),
    "exactly-eight-tenths": Case("mapping", "eight_tenths", {"ns": TEN, "bad": [0, 9]}),
    "no-outputs": Case("mapping", "no_outputs", {"ns": [1, 2]}),
    "no-elements-and-no-outputs": Case("mapping", "no_outputs", {"ns": []}),
    "dataclasses": Case("mapped_records", "dataclasses", {"n": 2}),
    "lists-of-lists": Case("mapping", "of_lists", {"ns": [0, 1, 3]}),
    "elements-that-may-be-none": Case("mapping", "optional_items", {"ns": [1, 2, 3]}),
    "four-workflows-deep": Case("mapping", "depth", {"ns": [1, 2]}),
    "empty-and-four-workflows-deep": Case("mapping", "depth", {"ns": []}),
    "renamed": Case("mapping", "renamed", {"ns": [2]}),
    "the-same-map-twice": Case("mapping", "same_map_twice", {"ns": [1, 2]}),
}
TOO_FEW = {
    "less-than-half": Case("mapping", "half", {"ns": TEN, "bad": [0, 1, 2, 3, 4, 5]}),
    "less-than-six-tenths": Case("mapping", "six_tenths", {"ns": TEN, "bad": [0, 1, 2, 3, 4]}),
    "less-than-eight-tenths": Case("mapping", "eight_tenths", {"ns": TEN, "bad": [0, 1, 9]}),
    "less-than-all": Case("mapping", "strict", {"ns": TEN, "bad": [5]}),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maps")
    for name in ("twice", "always", "alone"):
        (folder / name).mkdir()
    return folder


@pytest.fixture(scope="module")
def results(folders: Path) -> Results:
    by_hand = {
        "unequal-lengths": Case("mapping", "two_lists", {"ns": [1, 2, 3], "texts": ["a", "b"]}, local=False),
        "one-list-is-empty": Case("mapping", "two_lists", {"ns": [1, 2, 3], "texts": []}, local=False),
        "three-are-enough": Case("mapping", "at_least_three", {"ns": TEN[:5], "bad": [0, 3]}, local=False),
        "two-are-too-few": Case("mapping", "at_least_three", {"ns": TEN[:5], "bad": [0, 3, 4]}, local=False),
        "fails-twice": Case("mapping", "retried", {"folder": str(folders / "twice"), "times": 2}, local=False),
        "fails-always": Case("mapping", "retried", {"folder": str(folders / "always"), "times": 9}, local=False),
        "one-at-a-time": Case(
            "mapping", "one_at_a_time", {"ns": [1, 2, 3, 4], "folder": str(folders / "alone")}, False
        ),
        "files": Case("mapped_records", "files", {"ns": [0, 1, 2]}, local=False),
        "three-hundred": Case("mapping", "wide", {"n": 300}, local=False),
    }
    return run_cases({**CASES, **TOO_FEW, **by_hand}, folders / "home")


@pytest.mark.parametrize("name", CASES)
def test_the_outputs_are_those_of_local_execution(results: Results, name: str) -> None:
    assert results.outputs(name) == results.local[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("less-than-half", "5 must succeed. First error, at n0["),
        ("less-than-six-tenths", "5 elements of 10 failed: [0-4]; 6 must succeed. First error, at n0["),
        ("less-than-eight-tenths", "3 elements of 10 failed: [0-1,9]; 8 must succeed. First error, at n0["),
        ("less-than-all", "1 element of 10 failed: [5]; 10 must succeed. First error, at n0[5]"),
        ("two-are-too-few", "3 elements of 5 failed: [0,3-4]; 3 must succeed. First error, at n0["),
    ],
)
def test_too_few_successes_fail_with_the_first_elements_code(results: Results, name: str, message: str) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == ("USER:RuntimeError", "USER", "n0")
    assert message in error["message"]
    assert "ValueError: boom " in error["message"]
    if name in TOO_FEW:
        assert "ValueError" in results.local[name]


def test_min_successes_counts_elements(results: Results) -> None:
    assert results.outputs("three-are-enough") == {"o0": [None, 1, 4, None, 16]}


@pytest.mark.parametrize(("name", "length"), [("unequal-lengths", "2 items"), ("one-list-is-empty", "no items")])
def test_unequal_lengths_name_both_inputs(results: Results, name: str, length: str) -> None:
    assert results.error(name) == {
        "code": "InvalidArrayLength",
        "kind": "USER",
        "message": f"input arrays have different lengths: 'a' has 3 items, 'b' has {length}",
        "node": "n0",
    }


def launches(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir()}


def test_each_element_has_its_own_retries(results: Results, folders: Path) -> None:
    assert results.outputs("fails-twice") == {"o0": [0, 10, 20, 30, 40]}
    assert launches(folders / "twice") == {"0": 1, "1": 1, "2": 3, "3": 1, "4": 1}


def test_an_element_that_spends_its_retries_fails_the_map(results: Results, folders: Path) -> None:
    error = results.error("fails-always")
    assert (error["code"], error["kind"]) == ("RetriesExhausted|USER:Recoverable", "USER")
    assert error["message"].startswith("1 element of 5 failed: [2]; 5 must succeed. First error, at n0[2]: [3/3]")
    assert "not yet 2" in error["message"]
    started = launches(folders / "always")
    assert started.pop("2") == 3
    assert set(started.values()) == {1}


def test_concurrency_is_how_many_run_at_once(results: Results) -> None:
    assert results.outputs("one-at-a-time") == {"o0": [1, 1, 1, 1]}


def test_elements_exchange_files(results: Results) -> None:
    assert results.outputs("files") == {"o0": ["n0", "n1", "n2"]}


def test_three_hundred_elements_come_in_order(results: Results) -> None:
    outputs: dict[str, Any] = results.outputs("three-hundred")
    assert outputs == {"o0": list(range(1, 301)), "o1": sum(range(1, 301))}
