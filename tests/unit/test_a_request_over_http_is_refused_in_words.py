"""What was expected of a parameter or a field is said in words, with the values that are allowed."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Struct

from engine.gateway.bodies import Filter, Submission
from engine.gateway.expectations import said
from engine.model.phases import ExecutionPhase

PHASES = ", ".join(phase.value for phase in ExecutionPhase)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Filter, {"phase": ["DONE"]}, f"phase: expected one of {PHASES}, got ['DONE']"),
        (Filter, {"since_seconds": "x"}, "since_seconds: expected a number, got 'x'"),
        (Filter, {"limit": "x"}, "limit: expected a whole number, got 'x'"),
        (Filter, {"children": "x"}, "children: expected true or false, got 'x'"),
        (Submission, {"entity": "w", "name": 7}, "name: expected text or null, got 7"),
        (Submission, {"entity": "w", "envs": {"A": 1}}, "envs: expected an object, each value text, got {'A': 1}"),
        (Submission, {"entity": "w", "inputs": []}, "inputs: expected an object, each value any JSON value, got []"),
        (Submission, {}, "Object missing required field 'entity'"),
        (Submission, {"entity": "w", "x": 1}, "Object contains unknown field 'x'"),
    ],
)
def test_it_names_the_value_and_what_was_expected(kind: type[Struct], given: dict[str, object], words: str) -> None:
    query = kind is Filter
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, kind, strict=not query)
    assert said(str(caught.value), kind, given, nulls=not query) == words


def test_an_architecture_is_one_of_those_that_there_are() -> None:
    problem = "Invalid enum value 'mips' - at `$.architecture`"
    assert "expected one of '', amd64, arm64" in said(problem, Submission, {"architecture": "mips"}, nulls=True)
