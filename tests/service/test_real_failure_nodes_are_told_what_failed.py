"""Failure nodes as flytekit writes them: what they get, how often they run, what the execution ends with. Case S23."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

NAMES = ("one", "blind", "badly", "by_workflow", "patient", "outer", "by_plan")
Notes = Mapping[str, list[str]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Notes]:
    folder = tmp_path_factory.mktemp("real")

    def case(entity: str, x: int) -> Case:
        return Case("cleanups", entity, {"x": x, "path": str(folder / f"{entity}-{x}")}, local=False)

    cases = {f"{entity.replace('_', '-')}-{x}": case(entity, x) for entity in NAMES for x in (0, 4)}
    results = run_cases(cases, folder / "home")
    notes = {name: folder / case.entity for name, case in cases.items()}
    return results, {name: _lines(Path(f"{path}-{name[-1]}")) for name, path in notes.items()}


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("entity", NAMES)
def test_no_clean_up_where_nothing_fails(found: tuple[Results, Notes], entity: str) -> None:
    results, notes = found
    name = f"{entity.replace('_', '-')}-0"
    assert set(results.outputs(name).values()) == {0}
    assert notes[name] == []


@pytest.mark.parametrize(
    ("name", "node", "lines"),
    [
        ("one-4", "n1", ["clean 4 n1 ValueError: nope 4"]),
        ("blind-4", "n0", ["blind 4 nothing"]),
        ("badly-4", "n0", ["badly 4 n0 ValueError: nope 4"]),
        ("by-workflow-4", "n0", ["clean 4 n0 ValueError: nope 4", "blind 4 nothing"]),
        ("patient-4", "n0", ["clean 4 n0 ValueError: nope 4"]),
        ("outer-4", "n1/0/n1", ["clean 4 n1/0/n1 ValueError: nope 4"] * 2),
    ],
)
def test_the_failing_node_and_its_message(found: tuple[Results, Notes], name: str, node: str, lines: list[str]) -> None:
    results, notes = found
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == ("USER:RuntimeError", "USER", node)
    assert "ValueError: nope 4" in error["message"]
    assert notes[name] == lines


def test_the_failure_of_a_child_execution(found: tuple[Results, Notes]) -> None:
    """Both clean up: the child, whose node n1 failed, and the parent, whose node n0 is the child."""
    results, notes = found
    assert results.error("by-plan-4")["node"] == "n0"
    assert notes["by-plan-4"] == ["clean 4 n1 ValueError: nope 4", "clean 4 n0 ValueError: nope 4"]


def test_a_clean_up_that_fails_is_told_behind_the_first_failure(found: tuple[Results, Notes]) -> None:
    results, _ = found
    message = results.error("badly-4")["message"]
    first, _, second = message.partition("Its failure node fn0 failed too, with USER:RuntimeError: ")
    assert "ValueError: nope 4" in first
    assert "ValueError: no soap" in second
    assert results.node("badly-4", "fn0")["phase"] == "FAILED"


def test_the_clean_up_is_a_node_among_the_others(found: tuple[Results, Notes]) -> None:
    results, _ = found
    shown = [(node["path"], node["phase"]) for node in results.documents["by-workflow-4"]["nodes"]]
    assert shown == [("n0", "FAILED"), ("fn0", "SUCCEEDED"), ("fn0/0/n0", "SUCCEEDED"), ("fn0/0/n1", "SUCCEEDED")]
    stored = results.stored(results.node("one-4", "fn0")["inputs_uri"])
    assert (stored["x"], set(stored)) == (4, {"x", "path", "err"})
