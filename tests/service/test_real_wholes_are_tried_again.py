"""Retries and timeouts that authors write on sub-workflows, launch plans and @dynamic tasks, with real tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

NAMES = ("by_sub_workflow", "by_plan", "by_dynamic")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    folder = tmp_path_factory.mktemp("real")
    cases = {}
    for entity in NAMES:
        for good_from in (2, 9):
            name = f"{entity.replace('_', '-')}-{good_from}"
            inputs = {"path": str(folder / name), "good_from": good_from}
            cases[name] = Case("again", entity, inputs, local=False)
    cases["by-timeout"] = Case("again", "by_timeout", {"path": str(folder / "slow"), "seconds": 600.0}, local=False)
    paths = [str(folder / f"element-{k}") for k in range(3)]
    cases["by-map"] = Case("again", "by_map", {"paths": paths, "good_from": [1, 3, 2]}, local=False)
    return run_cases(cases, folder / "home"), folder


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_is_tried_again_after_a_plain_exception(found: tuple[Results, Path], name: str) -> None:
    results, folder = found
    case = f"{name.replace('_', '-')}-2"
    assert results.outputs(case) == {"o0": 102}
    assert (folder / case).read_text() == "xx"
    node = results.node(case, "n0")
    assert (node["phase"], node["attempts"]) == ("SUCCEEDED", 2)


@pytest.mark.parametrize("name", NAMES)
def test_as_often_as_the_author_asked(found: tuple[Results, Path], name: str) -> None:
    results, folder = found
    case = f"{name.replace('_', '-')}-9"
    error = results.error(case)
    assert (error["code"], error["kind"]) == ("RetriesExhausted|USER:RuntimeError", "USER")
    assert error["message"].startswith("[3/3] attempts done. Last error: USER::")
    assert "call 3 of 9" in error["message"]
    assert (folder / case).read_text() == "xxx"
    assert error["node"] == {"by_sub_workflow": "n0/2/n0", "by_plan": "n0", "by_dynamic": "n0/2/dn0"}[name]


def test_the_timeout_of_a_sub_workflow_stops_its_task(found: tuple[Results, Path]) -> None:
    results, _ = found
    assert results.outputs("by-timeout") == {"o0": 2}
    phases = {node["path"]: node["phase"] for node in results.documents["by-timeout"]["nodes"]}
    assert phases == {"n0": "SUCCEEDED", "n0/0/n0": "ABORTED", "n0/1/n0": "SUCCEEDED"}


def test_each_element_that_is_an_execution_has_its_own_tries(found: tuple[Results, Path]) -> None:
    results, folder = found
    assert results.outputs("by-map") == {"o0": [101, 103, 102]}
    assert [(folder / f"element-{k}").read_text() for k in range(3)] == ["x", "xxx", "xx"]
