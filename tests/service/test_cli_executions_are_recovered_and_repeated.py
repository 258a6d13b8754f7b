"""`recover`, its `--dry-run`, and `relaunch` by the real command, with real tasks that count how often they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.command import WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

FILE = str(WORKFLOWS / "recovering.py")


def _ran(propwash: Propwash) -> list[str]:
    """What has run since the last call."""
    told = propwash.folder / "ran"
    lines = told.read_text().splitlines() if told.exists() else []
    told.unlink(missing_ok=True)
    return sorted(lines)


def _fails(propwash: Propwash, workflow: str, *inputs: str) -> None:
    failed = propwash("run", FILE, workflow, "--name", "old", "--folder", str(propwash.folder), *inputs, "--json")
    assert failed.code == 1, failed.err
    assert "not mended" in failed.document["error"]["message"]
    _ran(propwash)
    Path(propwash.folder / "mended").touch()


def _phases(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {node["path"]: node["phase"] for node in document["nodes"]}


def test_a_map_goes_on_with_the_elements_that_failed(propwash: Propwash) -> None:
    _fails(propwash, "maps", "--xs", "[1, 2, 3]")
    table = propwash("recover", "old", "--dry-run").out
    assert "n0    reused    it SUCCEEDED" in table
    assert "n2    must run  it had not been started" in table
    assert table.endswith("1 reused, 2 must run; nothing was started\n")
    fates = propwash("recover", "old", "--dry-run", "--json").document
    assert [node["fate"] for node in fates["nodes"]] == ["reused", "must run", "must run"]
    assert "of its 3 elements" in fates["nodes"][1]["why"]

    recovered = propwash("recover", "old", "--name", "new", "--json")
    assert recovered.code == 0, recovered.err
    assert recovered.document["outputs"] == {"o0": 14}
    assert _phases(recovered.document) == {"n0": "RECOVERED", "n1": "SUCCEEDED", "n2": "SUCCEEDED"}
    assert "square 3" in _ran(propwash)
    assert propwash("check").code == 0

    again = propwash("recover", "new")
    assert again.code == 2
    assert "execution new has SUCCEEDED: there is nothing to recover" in again.err
    repeated = propwash("relaunch", "old", "--json")
    assert repeated.code == 0, repeated.err
    assert repeated.document["outputs"] == {"o0": 14}
    assert _ran(propwash) == ["first", "square 1", "square 2", "square 3"]


def test_a_dynamic_task_is_not_run_again(propwash: Propwash) -> None:
    _fails(propwash, "plans")
    table = propwash("recover", "old", "--dry-run").out
    assert "its task does not plan again" in table
    recovered = propwash("recover", "old", "--json")
    assert recovered.code == 0, recovered.err
    assert recovered.document["outputs"] == {"o0": 30}
    ran = _ran(propwash)
    assert "square 3" in ran
    assert not {"plan", "first"} & {*ran}
    assert propwash("check").code == 0


def test_a_child_execution_is_recovered_itself_and_watched_by_the_engine_that_serves(propwash: Propwash) -> None:
    _fails(propwash, "launches")
    with propwash.started("serve") as server:
        assert server.stderr is not None
        assert "it takes commands" in server.stderr.readline()
        recovered = propwash("recover", "old", "--json")
        assert recovered.code == 0, recovered.err
        assert recovered.document["outputs"] == {"o0": 9}
        assert _phases(recovered.document) == {"n0": "RECOVERED", "n1": "SUCCEEDED"}
        assert _ran(propwash) == ["square 3"]
        later = propwash("relaunch", "old", "--no-wait", "--name", "later")
        assert later.out == "execution later repeats old\n"
        silent = propwash("relaunch", "old", "--no-wait", "--name", "silent", "--json")
        assert silent.document == {"execution": {"project": "flytesnacks", "domain": "development", "name": "silent"}}
        assert propwash("watch", "later", "--json").document["outputs"] == {"o0": 9}
    assert propwash("check").code == 0
