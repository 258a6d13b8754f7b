from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from engine.cli import logs


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
