from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path

import pytest

from engine.cli import logs
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.concern import ATTEMPT


@pytest.fixture(autouse=True)
def root_logger_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_is_a_constant_text_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(verbose=False)
    extra = {"key": "p:d:e1|n0|0|0", "wait": 0.5, "cause": "no such host"}
    logging.getLogger("engine.loop").warning("effect failed, will try again", extra=extra)
    logging.getLogger("engine.loop").info("not told")
    line = "WARNING effect failed, will try again key=p:d:e1|n0|0|0 wait=0.5 cause='no such host'\n"
    assert capsys.readouterr().err == line


def test_verbose_tells_more_and_nothing_twice(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(verbose=False)
    logs.configure(verbose=True)
    logging.getLogger("engine.loop").info("told")
    assert capsys.readouterr().err == "INFO told\n"


def test_machines_get_an_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(verbose=False, as_json=True)
    key = AttemptKey(ExecutionId("p", "d", "e1"), "n1/0/n0", 2, index=7, node_attempt=1, run="abc")
    log = logging.getLogger("engine.loop")
    log.warning("effect failed, will try again", extra={"key": str(key), "wait": 0.5})
    log.error("disk is full", extra={"path": Path("x")})
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "WARNING",
        "logger": "engine.loop",
        "message": "effect failed, will try again",
        "execution": "p:d:e1",
        "node": "n1/0/n0[7]",
        "attempt": 2,
        "wait": 0.5,
    }
    assert (second["execution"], second["node"], second["attempt"], second["path"]) == (None, None, None, "x")


def test_an_error_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(verbose=False, as_json=True)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("engine.loop").exception("effect raised", extra={"execution": "p:d:e1"})
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert line["execution"] == "p:d:e1"
    assert "ValueError: two\nlines" in line["exception"]


def test_lines_of_hands_tell_for_which_attempt_they_work(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("engine.adapters.s3")

    def work() -> None:
        ATTEMPT.set(AttemptKey(ExecutionId("p", "d", "e1"), "n1", 2, run="abc"))
        log.warning("an upload could not be taken back", extra={"uri": "s3://b/k"})
        log.warning("of another one", extra={"execution": "p:d:e2"})

    for as_json in (True, False):
        logs.configure(verbose=False, as_json=as_json)
        copy_context().run(work)
    log.warning("of none")
    first, second, *plain = capsys.readouterr().err.splitlines()
    line = json.loads(first)
    assert (line["execution"], line["node"], line["attempt"], line["uri"]) == ("p:d:e1", "n1", 2, "s3://b/k")
    line = json.loads(second)
    assert (line["execution"], line["node"], line["attempt"]) == ("p:d:e2", None, None)
    assert plain == [
        "WARNING an upload could not be taken back uri=s3://b/k key=p:d:e1|n1|0|2|abc",
        "WARNING of another one execution=p:d:e2",
        "WARNING of none",
    ]
