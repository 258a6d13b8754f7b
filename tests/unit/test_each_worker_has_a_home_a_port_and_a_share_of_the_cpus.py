"""The command lines of `propwash serve --workers N`."""

from __future__ import annotations

import sys
from pathlib import Path

import click.testing
import pytest

from config.load import load
from engine.cli import serve as serving
from engine.cli.main import cli
from engine.cli.verdict import Context
from engine.cli.workers import _command

WORDS = ["serve", "--workers", "3", "--set", "kafka.bootstrap=b:9092"]


def command(number: int, *sets: str) -> list[str]:
    settings = load(None, ["kafka.bootstrap=b:9092", *sets], {})
    return _command(Path("/h"), settings, 3, number, WORDS)


def test_each_has_its_own() -> None:
    sets = "http.listen=127.0.0.1:8080", "processes.max_concurrent=8"
    first = [
        sys.executable,
        "-m",
        "propwash",
        *WORDS,
        "--worker",
        "--home",
        "/h/worker-1",
        "--listen",
        "127.0.0.1:8080",
    ]
    assert command(1, *sets) == first
    assert command(3, *sets)[-3:] == ["/h/worker-3", "--listen", "127.0.0.1:8082"]


def test_cpus_are_divided_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert command(2)[-2:] == ["--set", "processes.max_concurrent=2"]
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0}, raising=False)
    assert command(2)[-2:] == ["--set", "processes.max_concurrent=1"]


def test_any_free_port_is_one_for_each() -> None:
    assert command(2, 'http.listen="[::1]:0"', "processes.max_concurrent=1")[-1] == "[::1]:0"


def test_a_name_in_the_group_is_not_given_twice() -> None:
    sets = "kafka.instance=pod-7", "processes.max_concurrent=1"
    assert [command(number, *sets)[-1] for number in (1, 2)] == ["kafka.instance=pod-7-1", "kafka.instance=pod-7-2"]


def test_a_worker_reads_its_command_line_as_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands later on the line wins."""
    seen: list[object] = []

    def serve(*words: object, **more: object) -> int:
        seen.append((words, more))
        return 0

    monkeypatch.setattr(serving, "serve", serve)
    words = command(2, "http.listen=127.0.0.1:80", "processes.max_concurrent=1")[3:]
    done = click.testing.CliRunner().invoke(cli, words, obj=Context(), standalone_mode=False)
    assert done.exception is None
    sets = ("kafka.bootstrap=b:9092", 'http.listen="127.0.0.1:81"')
    assert seen == [((Path("/h/worker-2"), None, sets, 1), {"ends_with_stdin": True})]
