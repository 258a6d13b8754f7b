"""The table of small workflows, through an engine and through flytekit's local execution."""

from __future__ import annotations

import json

import anyio
import pytest

from engine.cli.audit import audit
from engine.machine.replay import Problem
from tests.service.conformance import Case, Results, Wrong, contents, leaves_files, run_cases
from tests.service.table import TABLE
from tests.services import missing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]


def of_those(fail: bool) -> list[object]:
    return [
        pytest.param(name, case, id=name, marks=[pytest.mark.service(case.needs)] if case.needs else [])
        for name, case in TABLE.items()
        if isinstance(case.right, Wrong) is fail
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    here = {name: case for name, case in TABLE.items() if not case.needs or not missing(case.needs)}
    return run_cases(here, tmp_path_factory.mktemp("compared") / "table", together="table")


@pytest.mark.parametrize(("name", "case"), of_those(fail=False))
def test_the_outputs_are_those_of_local_execution(results: Results, name: str, case: Case) -> None:
    right = case.right if case.right is not None else results.local[name]
    # As text, so that 3 is not 3.0 nor True 1.
    assert text(results.outputs(name)) == text(right)


def text(outputs: object) -> str:
    return json.dumps(contents(outputs), sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize(("name", "case"), of_those(fail=True))
def test_what_fails_locally_fails_with_its_reason(results: Results, name: str, case: Case) -> None:
    error, right = results.error(name), case.right
    assert isinstance(right, Wrong)
    assert (error["code"], error["kind"], error["node"]) == (right.code, right.kind, right.node)
    assert right.message in error["message"]
    if case.local:
        assert (right.local or right.message) in results.local[name]


@pytest.mark.parametrize("name", [name for name, case in TABLE.items() if leaves_files(case.inputs)])
def test_the_files_that_tasks_leave_are_the_same(results: Results, name: str) -> None:
    case = TABLE[name]
    if case.local or case.left is not None:
        assert results.left(name, "engine") == (results.left(name, "flytekit") if case.left is None else case.left)


@pytest.mark.parametrize("name", ["an-index-too-far", "no-such-key"])
def test_a_step_into_nothing_starts_nothing(results: Results, name: str) -> None:
    assert results.node(name, "n0")["outputs_uri"] is None


def test_the_home_is_in_order(results: Results) -> None:
    problems: list[Problem] = []
    anyio.run(audit, results.home, problems.append)
    assert problems == []


def test_what_local_execution_can_t_tell_has_a_reason() -> None:
    assert [name for name, case in TABLE.items() if not case.local and (case.right is None or not case.why)] == []
    assert [name for name, case in TABLE.items() if case.local and case.why] == []
