"""Tasks that fail in every way: what the execution's error says, and how often each was started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("failures")


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    def case(entity: str, **inputs: object) -> Case:
        return Case("failing", entity, inputs, local=False)

    return run_cases(
        {
            "raises": case("wf_raises", n=1),
            "raises-with-retries": case("wf_raises_with_retries", path=str(folder / "final")),
            "recovers": case("wf_recoverable", path=str(folder / "once"), times=1),
            "never-recovers": case("wf_recoverable", path=str(folder / "always"), times=9),
            "exits-with-0": case("wf_exits", path=str(folder / "zero"), code=0),
            "exits-with-3": case("wf_exits", path=str(folder / "three"), code=3),
            "vanishes": case("wf_vanishes", code=7),
            "killed": case("wf_killed", number=9),
            "crashes": case("wf_killed", number=11),
            "never-ends": case("wf_slow", path=str(folder / "slow")),
            "wrong-type": case("wf_wrong_type"),
            "fails-at-once": case("at_once", path=str(folder / "downstream")),
            "fails-in-the-end": case("in_the_end", path=str(folder / "independent"), never=str(folder / "dependent")),
            "in-a-sub-workflow": case("in_a_sub", n=1),
            "cut-outputs": case("wf_spoils", how="cut"),
            "no-outputs": case("wf_spoils", how="gone"),
            "lacking-outputs": case("wf_spoils", how="lacks"),
            "outputs-and-error": case("wf_spoils", how="both"),
            "garbled-error": case("wf_spoils", how="odd error"),
            "an-element-lacks-outputs": case("map_spoils", ns=[0, 1, 2]),
        },
        folder / "home",
    )


@pytest.mark.parametrize(
    ("name", "code", "kind", "node", "words"),
    [
        ("raises", "USER:RuntimeError", "USER", "n0", "ValueError: boom 1 ✗"),
        ("raises-with-retries", "USER:RuntimeError", "USER", "n0", "ValueError: final at once"),
        ("never-recovers", "RetriesExhausted|USER:Recoverable", "USER", "n0", "error=try 3"),
        ("exits-with-0", "RetriesExhausted|OutputsNotFound", "SYSTEM", "n0", "exited with 0 but wrote neither"),
        ("exits-with-3", "RetriesExhausted|Error", "USER", "n0", "exited with status 3"),
        ("vanishes", "RetriesExhausted|Error", "USER", "n0", "exited with status 7"),
        ("killed", "RetriesExhausted|Interrupted", "SYSTEM", "n0", "killed by signal 9"),
        ("crashes", "RetriesExhausted|Error", "USER", "n0", "died of signal 11"),
        ("never-ends", "RetriesExhausted|TimeoutExpired", "USER", "n0", "it had not ended 1 s after its start"),
        ("wrong-type", "SYSTEM", "SYSTEM", "n0", "Expected value of type <class 'int'> but got 'three'"),
        ("fails-at-once", "USER:RuntimeError", "USER", "n0", "boom 1"),
        ("fails-in-the-end", "USER:RuntimeError", "USER", "n0", "boom 1"),
        ("in-a-sub-workflow", "USER:RuntimeError", "USER", "n0/0/n0", "boom 1"),
        ("cut-outputs", "RetriesExhausted|OutputsNotFound", "SYSTEM", "n0", "outputs.pb could not be read"),
        ("no-outputs", "RetriesExhausted|OutputsNotFound", "SYSTEM", "n0", "expected outputs: o0"),
        ("lacking-outputs", "RetriesExhausted|OutputsNotFound", "SYSTEM", "n0", "lacks the declared output o0"),
        ("outputs-and-error", "USER:Odd", "USER", "n0", "both were written"),
        ("garbled-error", "RetriesExhausted|ErrorFileBadFormat", "SYSTEM", "n0", "could not be read"),
    ],
)
def test_the_error_says_what_happened(results: Results, name: str, code: str, kind: str, node: str, words: str) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == (code, kind, node)
    assert words in error["message"]


def test_a_recoverable_error_is_tried_again(results: Results) -> None:
    assert results.outputs("recovers") == {"o0": 9}
    assert results.node("recovers", "n0")["attempts"] == 2


@pytest.mark.parametrize(
    ("file", "starts"), [("final", 1), ("once", 2), ("always", 3), ("zero", 4), ("three", 2), ("slow", 2)]
)
def test_how_often_a_task_was_started(results: Results, folder: Path, file: str, starts: int) -> None:
    assert (folder / file).stat().st_size == starts


def test_an_element_without_its_output_counts_as_failed(results: Results) -> None:
    assert results.outputs("an-element-lacks-outputs") == {"o0": [0, None, 2]}


def test_a_failure_ends_what_runs_beside_it(results: Results, folder: Path) -> None:
    assert results.node("fails-at-once", "n1")["phase"] == "ABORTED"
    assert not (folder / "downstream").exists()


def test_what_does_not_depend_on_the_failure_is_run_to_its_end(results: Results, folder: Path) -> None:
    phases = {node["path"]: node["phase"] for node in results.documents["fails-in-the-end"]["nodes"]}
    assert phases == {"n0": "FAILED", "n1": "SUCCEEDED", "n2": "SUCCEEDED", "n3": "SUCCEEDED", "n4": "SUCCEEDED"} | {
        "n5": "SKIPPED"
    }
    assert (folder / "independent").exists()
    assert not (folder / "dependent").exists()
