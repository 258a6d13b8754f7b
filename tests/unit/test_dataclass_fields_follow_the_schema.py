from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack
import pytest
from flyteidl.core.types_pb2 import LiteralType, SimpleType, TypeStructure

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from tests.literal_types import COLOUR, DICT, FLOAT, INNER, INT, MSGPACK, list_of, optional, record


def unpacked(value: object, declared: LiteralType) -> Any:
    binary = to_literal(value, declared, "--c").scalar.binary
    assert binary.tag == "msgpack"
    return msgpack.unpackb(binary.value, strict_map_key=False)


def refused(value: object, declared: LiteralType) -> list[str]:
    with pytest.raises(BadInput) as caught:
        to_literal(value, declared, "--c")
    return str(caught.value).splitlines()


def outer(**properties: object) -> LiteralType:
    schema = {"title": "Outer", "type": "object", "properties": properties, "additionalProperties": False}
    return record({**schema, "$defs": {"Inner": INNER}})


def test_ints_become_floats_where_the_field_is_a_float() -> None:
    shaped = unpacked('{"b": 2, "a": 1}', record(INNER))
    assert shaped == {"a": 1, "b": 2.0}
    assert type(shaped["b"]) is float


def test_the_order_in_which_fields_are_typed_does_not_change_the_bytes() -> None:
    first = to_literal('{"b": 2, "a": 1}', record(INNER), "--c")
    assert first == to_literal('{"a": 1, "b": 2.0}', record(INNER), "--c")


def test_required_fields_come_first_then_the_others_by_name() -> None:
    declared = outer(**{name: {"type": "integer", "default": 0} for name in "qwertyu"})
    declared.metadata.update({"required": ["u", "e"]})
    assert list(unpacked({"u": 1, "e": 1, "w": 1}, declared)) == ["u", "e", "q", "r", "t", "w", "y"]


def test_missing_fields_take_the_default_of_the_schema() -> None:
    assert unpacked({"a": 1}, record(INNER)) == {"a": 1, "b": 1.5}


def test_whole_defaults_keep_the_type_of_their_field() -> None:
    # A protobuf Struct holds 3 and 3.0 alike.
    shaped = unpacked({}, outer(n={"type": "integer", "default": 3}, x={"type": "number", "default": 3}))
    assert {name: type(value) for name, value in shaped.items()} == {"n": int, "x": float}


def test_unknown_and_missing_fields_are_named() -> None:
    assert refused({"b": 1, "aa": 2}, record(INNER)) == [
        "--c.a: missing, expected int",
        "--c.aa: Inner has no such field; did you mean a? there are a, b",
    ]


def test_fields_may_be_unknown_where_the_model_allows_more() -> None:
    assert unpacked({"a": 1, "more": [2]}, record({**INNER, "additionalProperties": True})) == {
        "a": 1,
        "b": 1.5,
        "more": [2],
    }


def test_places_of_wrong_values_go_all_the_way_down() -> None:
    declared = outer(
        inner={"$ref": "#/$defs/Inner"},
        items={"type": "array", "items": INNER},
        rates={"type": "object", "additionalProperties": {"type": "number"}},
        pair={"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    )
    value = {"inner": {"a": 1.5}, "items": [{"a": 1}, {"a": "x"}], "rates": {"k": "2"}, "pair": [1, 2, 3]}
    assert refused(value, declared) == [
        "--c.inner.a: expected int, got 1.5",
        '--c.items[1].a: expected int, got "x"',
        "--c.pair: expected 2 items, got [1, 2, 3]: it has 3",
        "--c.pair[1]: expected str, got 2: write it in quotes",
        '--c.rates.k: expected float, got "2"',
    ]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string", "format": "date-time"}, "2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00"),
        ({"type": "string", "format": "date-time"}, "2024-01-01 00:00", "2024-01-01T00:00:00"),
        ({"type": "string", "format": "date"}, "2024-01-01", "2024-01-01"),
        ({"type": "string", "format": "time"}, "01:02", "01:02:00"),
        ({"type": "string", "format": "duration"}, "1h30m", "PT5400S"),
        ({"type": "string", "format": "duration"}, -0.25, "-PT0.25S"),
        ({"type": "number", "format": "time-delta"}, "1m", 60.0),
        ({"type": "string", "format": "base64"}, "AP8=", b"\x00\xff"),
        ({"type": "string", "format": "uuid"}, "anything", "anything"),
        ({"enum": ["red", "green"]}, "red", "red"),
        ({"enum": [1, 2]}, 2, 2),
        ({"const": "only"}, "only", "only"),
        ({"type": ["integer", "null"]}, None, None),
        ({"anyOf": [{"type": "number"}, {"type": "integer"}]}, 3, 3),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, 3, 3.0),
        ({"allOf": [{"type": "number"}]}, 3, 3.0),
        ({"type": "object", "propertyNames": {"type": "integer"}}, {"1": 2}, {1: 2}),
        ({"type": "array", "uniqueItems": True, "items": {"type": "number"}}, [1], [1.0]),
        ({}, {"any": [1, 2.5, None, "x"]}, {"any": [1, 2.5, None, "x"]}),
    ],
)
def test_a_field_is_written_as_its_decoder_reads_it(schema: dict[str, Any], value: object, expected: object) -> None:
    field = unpacked({"f": value}, outer(f=schema))["f"]
    assert field == expected
    assert type(field) is type(expected)


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (
            {"type": "string", "format": "date-time"},
            "soon",
            "expected datetime, got \"soon\": Invalid isoformat string: 'soon'",
        ),
        ({"type": "string", "format": "base64"}, "!", 'expected base64 text, got "!": no base64 text'),
        ({"enum": ["red", "green"]}, "blue", 'expected enum(red|green), got "blue": it must be one of "red", "green"'),
        ({"enum": [1]}, True, "expected enum(1), got true: it must be one of 1"),
        ({"type": ["integer", "string"]}, 1.5, "expected int | str, got 1.5"),
        ({"type": "integer"}, 2**64, "expected int, got 18446744073709551616: beyond the 64 bits that Flyte keeps"),
        ({}, 2**64, "expected int, got 18446744073709551616: beyond the 64 bits that Flyte keeps"),
    ],
)
def test_a_wrong_field(schema: dict[str, Any], value: object, message: str) -> None:
    assert refused({"f": value}, outer(f=schema)) == [f"--c.f: {message}"]


def test_a_file_field_takes_its_path(tmp_path: Path) -> None:
    file = {"title": "FlyteFile", "type": "object", "properties": {"path": {"type": "string"}}}
    (tmp_path / "data").write_text("x")
    assert unpacked({"f": f"{tmp_path}/data"}, outer(f=file)) == {"f": {"path": f"{tmp_path}/data"}}
    assert unpacked({"f": {"path": "s3://b/k"}}, outer(f=file)) == {"f": {"path": "s3://b/k"}}
    assert refused({"f": f"{tmp_path}/gone"}, outer(f=file))[0].endswith(f"no such file: {tmp_path}/gone")


def test_without_a_schema_the_types_of_the_fields_count() -> None:
    fields = {"n": INT, "xs": list_of(FLOAT), "c": optional(COLOUR)}
    declared = LiteralType(simple=SimpleType.STRUCT, annotation=MSGPACK, structure=TypeStructure(dataclass_type=fields))
    assert unpacked({"n": 1, "xs": [1], "c": "red"}, declared) == {"c": "red", "n": 1, "xs": [1.0]}
    assert refused({"n": 1.5}, declared) == ["--c.n: expected int, got 1.5"]


def test_a_plain_dict_keeps_whatever_json_it_is_given() -> None:
    value = {"n": 1, "x": 1.0, "deep": [{"t": True, "z": None}]}
    shaped = unpacked(value, DICT)
    assert shaped == value
    assert type(shaped["x"]) is float


def test_a_dict_must_be_an_object() -> None:
    assert refused("[1]", DICT) == ["--c: expected dict, got [1]"]


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert "nested more than 100 levels deep" in refused({"f": loop}, DICT)[0]
