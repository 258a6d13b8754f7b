"""Homes: one engine each; one of a newer version is refused; a damaged one stops the engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash
from tests.service.test_cli_an_interrupted_run_is_resumed import wait_for_line

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def test_a_second_engine_is_refused_while_list_and_get_look_on(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    words = ["run", "--name", "waiting", "--code-root", endings, endings, "waits", "--path", str(flag)]
    with propwash.started(*words) as process:
        wait_for_line(process, "n0 RUNNING")
        for command in (["run", endings, "doubled"], ["resume"]):
            done = propwash(*command)
            assert (done.code, done.out) == (2, "")
            assert f"home {propwash.home} is in use by process {process.pid}" in done.err
        assert "a home that `propwash serve` works on takes any number" in propwash("run", endings, "doubled").err
        assert propwash("list", "--json").document[0]["phase"] == "RUNNING"
        assert propwash("get", "waiting", "--json").document["nodes"][0]["phase"] == "RUNNING"
        flag.touch()
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 0
        assert str(flag) in out


def test_a_home_of_a_newer_version_is_refused(propwash: Propwash, endings: str) -> None:
    propwash("run", "--json", "--code-root", endings, endings, "doubled")
    with closing(sqlite3.connect(propwash.home / "log.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
    for command in (["run", endings, "doubled"], ["resume"], ["list"], ["get", "x"]):
        done = propwash(*command)
        assert (done.code, done.out) == (2, "")
        assert "schema version 99" in done.err


def test_a_damaged_log_is_exit_code_3(propwash: Propwash, endings: str) -> None:
    propwash("run", "--json", "--code-root", endings, endings, "doubled")
    log = propwash.home / "log.db"
    log.write_bytes(log.read_bytes()[:4096] + b"\xff" * 8192)
    done = propwash("list")
    assert (done.code, done.out) == (3, "")
    assert f"the engine had to stop: the log {log}" in done.err


def test_a_folder_that_only_looks_like_a_home_keeps_what_it_holds(propwash: Propwash, endings: str) -> None:
    """An engine deletes what an earlier one left in `running`; this one is an author's."""
    data = propwash.home / "running" / "data.csv"
    data.parent.mkdir(parents=True)
    data.write_text("precious")
    done = propwash("run", "--code-root", endings, endings, "doubled")
    assert (done.code, done.out) == (2, "")
    assert f"{propwash.home} can't be a home: it holds a folder 'running'" in done.err
    assert [path.name for path in propwash.home.iterdir()] == ["running"]
    assert data.read_text() == "precious"
