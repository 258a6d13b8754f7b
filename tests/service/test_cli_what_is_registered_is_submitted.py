"""register, list, submit and launch-plan with the real command, with and without a service on the home."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from config.load import load
from engine.model.ids import EntityId, EntityKind
from engine.registries import open_registry
from engine.registry.activation import activate, deactivate
from engine.registry.schedules import execution_name
from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash
from tests.service.serving import serving

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """registering.py and what it imports, in a folder that a test may change."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in ("registering.py", "registering_lib.py", "referring.py"):
        shutil.copy(WORKFLOWS / name, folder)
    return folder


def test_a_workflow_a_launch_plan_and_a_task_are_started_by_name(propwash: Propwash, source: Path) -> None:
    done = propwash("register", str(source / "registering.py"), "--version", "v1", "--json")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert (document["project"], document["domain"], document["version"]) == ("flytesnacks", "development", "v1")
    assert document["active"] == ["registering.minutely"]
    assert {one["name"] for one in document["registered"] if one["kind"] == "task"} == {
        "registering.double",
        "registering.level",
    }
    # What is registered stays as it is, whatever becomes of its source.
    shutil.rmtree(source)
    outputs = {
        words: propwash("submit", *words.split(), "--json").document["outputs"]
        for words in ("twice --input n=5", "registering.twice:v1", "fixed", "double --input n=21")
    }
    assert list(outputs.values()) == [{"o0": 20}, {"o0": 16}, {"o0": 40}, {"o0": 42}]
    assert propwash("check").code == 0


def test_a_version_is_taken_by_its_content(propwash: Propwash, source: Path) -> None:
    file = source / "registering.py"
    assert propwash("register", str(file), "--version", "v1").code == 0
    again = propwash("register", str(file), "--version", "v1")
    assert (again.code, again.out) == (
        0,
        "nothing is new: all of it is registered in flytesnacks:development, version v1 already\n",
    )
    # Not a letter of what is registered differs, but the code that it runs.
    (source / "registering_lib.py").write_text("def times(n: int, factor: int) -> int:\n    return n + factor\n")
    refused = propwash("register", str(file), "--version", "v1")
    assert (refused.code, refused.out) == (2, "")
    assert "is registered with other content; choose another version. Nothing was registered:\n" in refused.err
    assert "  - changed: task registering.double: code: fast" in refused.err
    assert propwash("register", str(file), "--version", "v2").code == 0
    results = [propwash("submit", f"double:{v}", "--input", "n=5", "--json").document for v in ("v1", "v2")]
    assert [result["outputs"] for result in results] == [{"o0": 10}, {"o0": 7}]
    assert propwash("submit", "double", "--input", "n=5", "--json").document["outputs"] == {"o0": 7}, "the latest"


def test_packages_of_several_projects_refer_to_each_other(propwash: Propwash, source: Path) -> None:
    referring = str(source / "referring.py")
    refused = propwash("register", referring, "--version", "v1")
    assert refused.code == 2
    assert (
        "it refers to the task lib:development:registering.double, version v1, which is not registered" in refused.err
    )
    assert propwash("register", str(source / "registering.py"), "--project", "lib", "--version", "v1").code == 0
    assert propwash("register", referring, "--version", "v1").code == 0
    assert propwash("submit", "doubled", "--input", "n=5", "--json").document["outputs"] == {"o0": 10}
    assert propwash("submit", "by_plan", "--json").document["outputs"] == {"o0": 40}
    assert propwash("run", "--json", referring, "doubled", "--n", "4").document["outputs"] == {"o0": 8}
    # What a dynamic task refers to is found when it has planned, and runs from the package it was registered with.
    assert propwash("submit", "planned", "--input", "n=3", "--json").document["outputs"] == {"o0": [40, 0, 4, 8]}
    assert propwash("check").code == 0


def test_a_service_takes_submissions_and_survives_its_death(propwash: Propwash, source: Path) -> None:
    propwash("register", str(source / "registering.py"), "--version", "v1")
    with serving(propwash) as service:
        assert propwash("submit", "twice", "--input", "n=1", "--json").document["outputs"] == {"o0": 4}
        named = ["submit", "twice", "--input", "n=2", "--name", "second", "--no-wait"]
        assert propwash(*named).out == "second\n"
        service.kill()
    with serving(propwash) as service:
        assert propwash("watch", "second", "--json").document["outputs"] == {"o0": 8}
        assert propwash(*named).out == "second\n", "the same again"
        other = propwash("submit", "twice", "--input", "n=3", "--name", "second")
        assert other.code == 2
        assert "execution second exists already" in other.err
        service.send_signal(signal.SIGTERM)
        assert service.wait(timeout=LIMIT_SECONDS) == 0
    assert propwash("check").code == 0


def test_a_submission_that_nobody_waits_for_is_done_by_the_next_engine(propwash: Propwash, source: Path) -> None:
    propwash("register", str(source / "registering.py"), "--version", "v1")
    for n in (1, 2):
        done = propwash("submit", "twice", "--input", f"n={n}", "--name", f"e{n}", "--no-wait", "--json")
        assert done.document == {"execution": {"project": "flytesnacks", "domain": "development", "name": f"e{n}"}}
    assert propwash("submit", "twice", "--input", "n=9", "--name", "e1", "--no-wait").code == 2
    assert {one["phase"] for one in propwash("list", "--json").document} == {"RUNNING"}
    assert [one["outputs"] for one in propwash("resume", "--json").document] == [{"o0": 4}, {"o0": 8}]


def test_options_reach_the_task(propwash: Propwash, source: Path) -> None:
    propwash("register", str(source / "registering.py"), "--version", "v1")
    words = ["submit", "leveled", "--input", "at=2026-01-31T06:30:00", "--env", "LEVEL=high", "--json"]
    assert propwash(*words).document["outputs"] == {"o0": "high at 06:30"}
    assert propwash("submit", "fixed", "--json").document["labels"] == {"team": "x"}
    assert propwash("submit", "fixed", "--label", "team=y", "--label", "a=b", "--json").document["labels"] == {
        "team": "y",
        "a": "b",
    }


async def active_since(home: Path, plan: EntityId, moment: float) -> None:
    settings = await to_thread.run_sync(load, None, [], {})
    async with open_registry(home, settings) as registry:
        await deactivate(registry, plan)
        await activate(registry, (await registry.find([plan]))[plan], moment)


def test_a_schedule_is_kept_by_a_service_and_made_up_for(propwash: Propwash, source: Path) -> None:
    propwash("register", str(source / "registering.py"), "--version", "v1")
    plan = EntityId(EntityKind.LAUNCH_PLAN, "flytesnacks", "development", "registering.minutely", "v1")
    since = time.time() - 130.0
    anyio.run(active_since, propwash.home, plan, since)
    names = [execution_name(plan, since + after) for after in (60, 120)]
    with serving(propwash, "--verbose") as service:
        assert service.stderr is not None
        for name in names:
            assert any(f"execution=flytesnacks:development:{name}" in line for line in service.stderr)
            assert propwash("watch", name).code == 0
    documents = [propwash("get", name, "--json").document for name in names]
    assert [document["phase"] for document in documents] == ["SUCCEEDED", "SUCCEEDED"]
    due = [time.strftime("%H:%M", time.gmtime(since + after)) for after in (60, 120)]
    assert [document["outputs"]["o0"] for document in documents] == [f"none at {at}" for at in due]

    off = propwash("launch-plan", "deactivate", "minutely")
    assert (off.code, off.out) == (
        0,
        "launch plan flytesnacks:development:registering.minutely, version v1 is not active\n",
    )
    on = propwash("launch-plan", "activate", "minutely:v1")
    assert on.out == (
        "launch plan flytesnacks:development:registering.minutely, version v1 is active and starts by its schedule "
        "(every 60 s) where an engine serves\n"
    )


def test_what_is_registered_is_listed(propwash: Propwash, source: Path) -> None:
    assert propwash("list", "tasks").out == f"no tasks registered in {propwash.home}\n"
    for version in ("v1", "v2"):
        propwash("register", str(source / "registering.py"), "--version", version, "--project", "lib")
    workflows = propwash("list", "workflows").out.splitlines()
    assert workflows[0].split() == ["NAME", "VERSION", "PROJECT", "DOMAIN", "REGISTERED"]
    assert [line.split()[:2] for line in workflows[1:]] == [["registering.leveled", "v2"], ["registering.twice", "v2"]]
    every = propwash("list", "tasks", "--name", "double", "--all-versions", "--json").document
    assert [(one["name"], one["version"]) for one in every] == [
        ("registering.double", "v2"),
        ("registering.double", "v1"),
    ]
    plans = propwash("list", "launch-plans", "--name", "minutely", "--all-versions", "--json").document
    assert [(one["version"], one["schedule"], one["active"]) for one in plans] == [
        ("v2", "every 60 s", True),
        ("v1", "every 60 s", False),
    ]
    assert propwash("list", "tasks", "--project", "other").out.startswith("none of the tasks registered in ")
    wrong = propwash("list", "tasks", "--phase", "FAILED")
    assert (wrong.code, "--phase says nothing about tasks" in wrong.err) == (2, True)
    assert propwash("list", "--all-versions").code == 2
