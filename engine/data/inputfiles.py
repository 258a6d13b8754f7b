"""The inputs of a raw container as files: one for each value, and one that tells them all."""

from __future__ import annotations

import json

import msgpack
from flyteidl.core import literals_pb2
from google.protobuf import json_format
from msgspec import Struct

from engine.data.container import DataConfig, DataFormat
from engine.data.inline import as_text
from engine.ports.taskrunner import Mount

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class InputFiles(Struct, frozen=True):
    files: dict[str, bytes]
    """Path below the folder of inputs -> contents."""
    mounts: tuple[Mount, ...]
    """Files and folders that stay where they are."""


def input_files(inputs: bytes, config: DataConfig) -> InputFiles:
    """Of a serialized `LiteralMap` without references, as FlytePropeller's copilot lays them out.

    `<variable>` is a value as text; the items of a list and the values of a dict are files of a folder. Files,
    directories and datasets are put in place. `inputs.pb` holds all of it, with local paths, and so does `inputs.json`
    (or `.yaml`).
    """
    told = literals_pb2.LiteralMap.FromString(inputs)
    made = _Files(config.input_path.rstrip("/"))
    values = {name: made.add(name, literal) for name, literal in sorted(told.literals.items())}
    files = {**made.files, f"inputs.{DataFormat.PROTO}": told.SerializeToString(deterministic=True)}
    if config.format is not DataFormat.PROTO:
        # JSON is YAML too.
        files[f"inputs.{config.format}"] = json.dumps(values, sort_keys=True).encode()
    return InputFiles(files, tuple(made.mounts))


class _Files:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.files: dict[str, bytes] = {}
        self.mounts: list[Mount] = []

    def add(self, path: str, literal: literals_pb2.Literal) -> Json:
        """Lay out a value, and turn the URIs in it into local paths; what JSON says of it."""
        match literal.WhichOneof("value"):
            case "collection":
                items = literal.collection.literals
                return [self.add(f"{path}/{number}", item) for number, item in enumerate(items)]
            case "map":
                return {key: self.add(f"{path}/{key}", value) for key, value in sorted(literal.map.literals.items())}
        scalar = literal.scalar
        match scalar.WhichOneof("value"):
            case "union":
                return self.add(path, scalar.union.value)
            case "blob":
                scalar.blob.uri = self._mounted(path, scalar.blob.uri)
                return str(scalar.blob.uri)
            case "schema":
                scalar.schema.uri = self._mounted(path, scalar.schema.uri)
                return str(scalar.schema.uri)
            case "structured_dataset":
                scalar.structured_dataset.uri = self._mounted(path, scalar.structured_dataset.uri)
                return str(scalar.structured_dataset.uri)
            case "primitive":
                self.files[path] = as_text(literal.SerializeToString()).encode()
                return _plain(scalar.primitive, self.files[path].decode())
        self.files[path], value = _document(scalar)
        return value

    def _mounted(self, path: str, uri: str) -> str:
        place = f"{self._folder}/{path}"
        self.mounts.append(Mount(uri, place))
        return place


def _plain(primitive: literals_pb2.Primitive, text: str) -> Json:
    match primitive.WhichOneof("value"):
        case "integer":
            return int(primitive.integer)
        case "float_value":
            return float(primitive.float_value)
        case "boolean":
            return bool(primitive.boolean)
    return text


def _document(scalar: literals_pb2.Scalar) -> tuple[bytes, Json]:
    """What is neither a file nor a plain value: as JSON, bytes that are none as they are."""
    if scalar.WhichOneof("value") == "none_type":
        return b"null", None
    if scalar.WhichOneof("value") == "binary":
        try:
            value: Json = msgpack.unpackb(scalar.binary.value, strict_map_key=False)
            return json.dumps(value).encode(), value
        except (ValueError, TypeError):
            return scalar.binary.value, None
    value = json_format.MessageToDict(scalar.generic if scalar.HasField("generic") else scalar)
    return json.dumps(value, sort_keys=True).encode(), value
