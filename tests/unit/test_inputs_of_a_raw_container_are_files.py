"""A file for each value, a folder for lists and dicts, files in their places, and one that tells them all."""

from __future__ import annotations

import json

import pytest
from flyteidl.core import literals_pb2

from engine.data.container import DataConfig, DataFormat
from engine.data.inputfiles import input_files
from engine.ports.taskrunner import Mount
from tests.dataplane import Literal, literal_map, packed, union

CONFIG = DataConfig("/in", "/out", DataFormat.JSON)


def blob(uri: str) -> Literal:
    return Literal(scalar=literals_pb2.Scalar(blob=literals_pb2.Blob(uri=uri)))


def of(config: DataConfig = CONFIG, **values: object) -> tuple[dict[str, bytes], tuple[Mount, ...]]:
    made = input_files(literal_map(values).SerializeToString(), config)
    return made.files, made.mounts


def test_plain_values() -> None:
    files, mounts = of(n=3, x=2.5, yes=True, text="hé\n", none=None, maybe=union(4))
    told = json.loads(files.pop("inputs.json"))
    assert files.pop("inputs.pb")
    assert files == {
        "n": b"3",
        "x": b"2.5",
        "yes": b"true",
        "text": "hé\n".encode(),
        "none": b"null",
        "maybe": b"4",
    }
    assert told == {"n": 3, "x": 2.5, "yes": True, "text": "hé\n", "none": None, "maybe": 4}
    assert mounts == ()


def test_values_of_values() -> None:
    files, _ = of(xs=[1, [2]], named={"a": "x"}, record=packed({"k": [1]}))
    assert json.loads(files["inputs.json"]) == {"xs": [1, [2]], "named": {"a": "x"}, "record": {"k": [1]}}
    assert {path: data for path, data in files.items() if not path.startswith("inputs.")} == {
        "xs/0": b"1",
        "xs/1/0": b"2",
        "named/a": b"x",
        "record": b'{"k": [1]}',
    }


def test_files_stay_where_they_are() -> None:
    files, mounts = of(one=blob("/data/one"), many=[blob("file:///data/two")])
    assert mounts == (Mount("file:///data/two", "/in/many/0"), Mount("/data/one", "/in/one"))
    assert json.loads(files["inputs.json"]) == {"one": "/in/one", "many": ["/in/many/0"]}
    told = literals_pb2.LiteralMap.FromString(files["inputs.pb"])
    assert told.literals["one"].scalar.blob.uri == "/in/one"
    assert sorted(files) == ["inputs.json", "inputs.pb"]


@pytest.mark.parametrize(
    ("format", "names"),
    [
        (DataFormat.JSON, ["inputs.json", "inputs.pb", "n"]),
        (DataFormat.YAML, ["inputs.pb", "inputs.yaml", "n"]),
        (DataFormat.PROTO, ["inputs.pb", "n"]),
    ],
)
def test_the_form_that_was_asked_for(format: DataFormat, names: list[str]) -> None:
    files, _ = of(DataConfig("/in", "/out", format), n=3)
    assert sorted(files) == names


def test_bytes_that_are_no_document_are_bytes() -> None:
    binary = literals_pb2.Binary(value=b"\xff\xfe\x00", tag="other")
    files, _ = of(b=Literal(scalar=literals_pb2.Scalar(binary=binary)))
    assert files["b"] == b"\xff\xfe\x00"
