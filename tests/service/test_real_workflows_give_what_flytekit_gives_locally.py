"""The table of small workflows, through an engine and through flytekit's local execution."""

from __future__ import annotations

import anyio
import pytest

from engine.cli.audit import audit
from engine.machine.replay import Problem
from tests.service.cases import Case, Results, check, of_those
from tests.service.conformance import run_cases
from tests.service.table import TABLE, table_here

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_cases(table_here(), tmp_path_factory.mktemp("compared") / "table", together="table")


@pytest.mark.parametrize(("name", "case"), of_those(TABLE))
def test_the_outcome_is_that_of_local_execution(results: Results, name: str, case: Case) -> None:
    check(results, name, case)


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
