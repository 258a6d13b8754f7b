"""Every error of the engine can be raised, has a code of its own and a message a person can read."""

from __future__ import annotations

import inspect

import pytest

from engine.model import errors
from engine.model.errors import MESSAGE_LIMIT, EngineError, ErrorKind, Failure, shorten

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, EngineError) and value.__module__ == errors.__name__
]
MESSAGE = "home 'x' is in use by process 7; expected one engine a home; nothing was started"
FAILURE = Failure("TaskFailed", ErrorKind.USER, "boom 3", node="n0")

SPECIAL = {
    errors.BadPackage: (
        errors.BadPackage("wf.py", ["task a: no such module 'b'", "workflow c: a cycle n0 -> n1 -> n0"]),
        "wf.py can't be used, 2 problems; nothing was started:\n"
        "  - task a: no such module 'b'\n"
        "  - workflow c: a cycle n0 -> n1 -> n0",
    ),
    errors.Permanent: (errors.Permanent(FAILURE, recoverable=True), "TaskFailed: boom 3"),
    errors.BlobNotFound: (errors.BlobNotFound("file:///store/a/b"), "no object at file:///store/a/b"),
}


@pytest.mark.parametrize("cls", CLASSES)
def test_an_error_carries_its_message(cls: type[EngineError]) -> None:
    error, message = SPECIAL[cls] if cls in SPECIAL else (cls(MESSAGE), MESSAGE)
    assert str(error) == message
    assert isinstance(error, EngineError)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_error_has_a_code_and_is_drawn_in_the_tree(cls: type[EngineError]) -> None:
    assert cls.code == cls.__name__
    assert cls.__doc__
    assert cls.__name__ in (errors.__doc__ or "")


def test_one_problem_is_not_problems() -> None:
    assert str(errors.BadPackage("a.tgz", ["empty"])).startswith("a.tgz can't be used, 1 problem; ")


def test_a_failure_keeps_the_place_it_happened_first() -> None:
    assert FAILURE.at("n1").node == "n0"
    assert Failure("X", ErrorKind.SYSTEM, "y").at("n1").node == "n1"


def test_a_long_message_keeps_its_head_and_tail() -> None:
    text = "a" * MESSAGE_LIMIT + "z" * MESSAGE_LIMIT
    short = shorten(text)
    assert len(short) <= MESSAGE_LIMIT
    assert short.startswith("aaa")
    assert short.endswith("zzz")
    half = MESSAGE_LIMIT // 2 - 32
    assert f"[... {len(text) - 2 * half} characters cut ...]" in short
    assert shorten("short") == "short"
