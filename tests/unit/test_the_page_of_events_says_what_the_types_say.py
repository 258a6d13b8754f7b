"""docs/events.md is made from the types, and its examples are events that an engine reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import pytest
from msgspec import Struct

from engine.model.requests import ExecutionRequested
from engine.model.state import Fact
from engine.wire import codec, eventpage
from engine.wire.publicform import JSON, MSGPACK, PUBLIC, Unreadable

PAGE = Path(__file__).parents[2] / "docs" / "events.md"


def test_it_is_as_make_docs_writes_it() -> None:
    text = PAGE.read_text()
    assert eventpage.MARK in text
    assert text == eventpage.page(text), "run: make docs"


def test_no_part_is_described_by_the_library_that_it_is_made_with() -> None:
    assert "base class for defining" not in PAGE.read_text()


def test_every_public_event_has_its_section_with_every_field() -> None:
    text = PAGE.read_text()
    for noun in (*PUBLIC, Fact):
        title = noun.__struct_config__.tag or "fact"
        section = text.partition(f"\n### `{title}`\n")[2].partition("\n### ")[0]
        for field in msgspec.structs.fields(noun):
            assert (f"| `{field.name}` |" in section) is (field.name != "parent"), (title, field.name)


@pytest.mark.parametrize("noun", PUBLIC)
def test_an_example_is_read_in_both_forms(noun: type[Struct]) -> None:
    example = eventpage.EXAMPLES[noun]
    found = codec.unpack_event(json.dumps(example).encode(), JSON)
    assert type(found) is noun
    assert codec.unpack_event(msgpack.packb(example)) == found
    assert json.dumps(example, indent=2) in PAGE.read_text()


def test_the_example_of_a_fact_is_one() -> None:
    assert codec.unpack_fact(msgpack.packb(eventpage.EXAMPLES[Fact])).phase == "SUCCEEDED"


@pytest.mark.parametrize("noun", PUBLIC)
def test_what_a_schema_requires_is_required_and_what_it_lacks_is_refused(noun: type[Struct]) -> None:
    schema: dict[str, Any] = eventpage.schema(noun)
    example = eventpage.EXAMPLES[noun]
    assert set(example) <= set(schema["properties"])
    for name in schema["required"]:
        with pytest.raises(Unreadable):
            codec.unpack_event(json.dumps({key: value for key, value in example.items() if key != name}).encode(), JSON)
    with pytest.raises(Unreadable, match="nobody reads 'parent'"):
        codec.unpack_event(json.dumps({**example, "parent": None}).encode(), JSON)


def test_a_misspelt_option_is_refused_and_not_passed_over() -> None:
    example = {**eventpage.EXAMPLES[ExecutionRequested], "overrides": {"archtecture": "arm64"}}
    for data, kind in ((json.dumps(example).encode(), JSON), (msgpack.packb(example), MSGPACK)):
        with pytest.raises(Unreadable, match=r"nobody reads overrides\.'archtecture'"):
            codec.unpack_event(data, kind)


def test_an_event_of_the_engines_is_refused_as_json() -> None:
    execution = {"project": "p", "domain": "d", "name": "e"}
    event = {"v": 1, "type": "attempt.stopped", "key": {"execution": execution, "path": "n"}}
    assert codec.unpack_event(msgpack.packb(event))
    expected = "execution.requested, execution.abort_requested, signal.given, node.retry_requested"
    with pytest.raises(Unreadable, match=re.escape(f"attempt.stopped is an engine's own; expected one of {expected}")):
        codec.unpack_event(json.dumps(event).encode(), JSON)
