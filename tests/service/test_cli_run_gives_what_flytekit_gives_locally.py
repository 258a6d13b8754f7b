"""Workflows in the style of Flyte's documentation, through `propwash run --json` as a user would, and locally."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.service.cases import Case, Results, Wrong, check, furnished, of_those
from tests.service.command import WORKFLOWS, Done, Propwash
from tests.service.conformance import run_locally
from tests.services import missing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

GUIDE = WORKFLOWS / "guide"
AT_ONCE = 2
CASES: Mapping[str, Case] = {
    "chained-workflows": Case("chaining", "chain_workflows", {"place": "{here}/said"}),
    "conditions": Case("shapes", "nested", {"radius": 0.7}),
    "a-condition-that-fails": Case(
        "shapes",
        "shape_properties",
        {"radius": 20.5},
        right=Wrong("UserProvidedError", "The radius must be between 0.1 and 10"),
    ),
    "a-launch-plan": Case("regression", "line_plan", {"x": [0, 1, 2]}, called="regression-line-plan"),
    "a-dynamic-workflow": Case("letters", "common_letters", {"first": "Pear", "second": "earth"}),
    "a-merge-sort": Case("merge_sort", "merge_sort", {"numbers": [1813, 3105, 3260, 2634, 383, 7037], "count": 6}),
    "map-tasks": Case("anomalies", "find_anomalies", {"factor": 0.25}),
    "dataclasses": Case("records", "data_classes", {"x": 10, "y": 20}, needs="pandas"),
    "files-and-folders": Case("files", "normalise_all", {"rows": 4}),
    "tables": Case("tables", "ages", {"n": 4}, needs="pandas"),
    "checkpoints": Case("checkpoint", "count_up", local=False, right={"o0": 9}, why="local execution ignores retries"),
    "clean-ups": Case(
        "failures",
        "with_cluster",
        {"name": "c", "place": "{here}/log", "n": 4},
        local=False,
        right=Wrong("USER:RuntimeError", "the job is too large", node="n1"),
        left={"log": "created c\ndeleted c after n1\n"},
        why="local execution tells a failure node its own id as the one that failed",
    ),
    "shell-tasks": Case("shell", "shell_tasks"),
    "pickles": Case("outputs", "superhero", {"name": "Thör"}),
}


def typed(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def run(folder: Path, name: str) -> Done:
    """One command with a home of its own."""
    case, own = CASES[name], folder / name
    own.mkdir()
    inputs = furnished(case.inputs, folder / "own" / f"{name}-engine")
    words = [word for key, value in inputs.items() for word in (f"--{key}", typed(value))]
    place = ["--project", "p", "--domain", "d", "--name", name]
    file = str(GUIDE / f"{case.module}.py")
    return Propwash(own)("run", "--json", *place, file, case.called or case.entity, *words)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("guide")
    here = [name for name, case in CASES.items() if not case.needs or not missing(case.needs)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = dict(zip(here, pool.map(partial(run, folder), here), strict=True))
    refused = {name: one.err for name, one in done.items() if not one.out}
    inputs = {
        name: furnished(CASES[name].inputs, folder / "own" / f"{name}-flytekit") for name in here if CASES[name].local
    }
    local = run_locally(CASES, inputs, GUIDE, folder)
    return Results({name: one.document for name, one in done.items() if one.out}, refused, local, folder / "home")


@pytest.mark.parametrize(("name", "case"), of_those(CASES))
def test_the_outcome_is_that_of_local_execution(results: Results, name: str, case: Case) -> None:
    check(results, name, case)
