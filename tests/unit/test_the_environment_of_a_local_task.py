from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from engine.adapters.processes import command
from engine.adapters.processes.place import Place
from engine.brokers import PASSWORD
from engine.ports.taskrunner import TaskRequest
from tests.contract.runner_adapters import TASK, key

PLACE = Place(Path("/w/1"), Path("/s"))
REQUEST = TaskRequest(key("n0"), TASK, ("x",), {"A": "container"}, "file:///s", code_root="/code")


def environment(base: dict[str, str], request: TaskRequest = REQUEST) -> dict[str, str]:
    return command.environment(base, request, "/venv/bin", PLACE)


def test_the_container_wins_over_the_author_and_the_attempts_place_over_both() -> None:
    base = {"A": "author", "B": "author", "TMPDIR": "/tmp", "PATH": "/usr/bin", "PYTHONPATH": "/lib"}
    assert environment(base) == {
        "A": "container",
        "B": "author",
        "PATH": "/venv/bin:/usr/bin",
        "PWD": "/w/1/cwd",
        "PYTHONPATH": "/code:/lib",
        "TMPDIR": "/w/1/tmp",
    }


def test_no_code_root_and_no_path_leave_no_empty_parts() -> None:
    """An empty part of PYTHONPATH would mean the working folder."""
    found = environment({"PATH": ""}, structs.replace(REQUEST, code_root=""))
    assert (found["PATH"], found.get("PYTHONPATH")) == ("/venv/bin", None)


def test_no_secret_of_the_engine_reaches_a_task() -> None:
    assert command.without_secrets({"A": "1", PASSWORD: "hunter2"}) == {"A": "1"}


def test_the_zygote_gets_no_module_of_the_author() -> None:
    found = command.zygote_environment({"PYTHONPATH": "/code", "A": "1"}, ("MARK", "7"), Path("/w/z"))
    assert found == {"A": "1", "MARK": "7", "TMPDIR": "/w/z", "FLYTE_INTERNAL_EXECUTION_ID": "zygote"}


@pytest.mark.parametrize(
    ("argv0", "fork"),
    [
        ("pyflyte-execute", True),
        ("pyflyte-map-execute", True),
        ("/venv/bin/pyflyte-execute", True),
        ("/other/bin/pyflyte-execute", False),
        ("pyflyte-fast-execute", False),
        ("python", False),
    ],
)
def test_only_flytekits_commands_of_this_environment_are_forked(argv0: str, fork: bool) -> None:
    assert command.runs_flytekit((argv0, "--x"), "/venv/bin") is fork


def test_what_a_fork_can_not_change_any_more() -> None:
    env = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "LD_PRELOAD": "x", "_F_TE_MAX_COROS": "1"}
    free = {"PYTHONPATH": "/x", "PYTHONUNBUFFERED": "1", "FLYTE_SDK_LOGGING_LEVEL": "10", "TZ": "UTC"}
    assert command.frozen({**env, **free}) == env


def test_modules_and_packages_shadow_but_plain_folders_do_not(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "first" / "yaml").mkdir()
    (tmp_path / "first" / "own.py").touch()
    env = {"PYTHONPATH": f"{tmp_path}/first:/nowhere:{tmp_path}/second"}
    imported = frozenset({"yaml", "click"})
    assert command.shadowed(env, imported) == ""
    (tmp_path / "second" / "click.py").touch()
    assert command.shadowed(env, imported) == f"{tmp_path}/second/click"
    (tmp_path / "first" / "yaml" / "__init__.py").touch()
    assert command.shadowed(env, imported) == f"{tmp_path}/first/yaml"
