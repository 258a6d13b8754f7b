"""From a JSON value, or text a person typed, to the literal of a declared type: strict, and everything wrong at once.

Text is read by the type, in the manner of `pyflyte run`: lists, dicts and dataclasses as JSON or the name of a JSON or
YAML file. Lists and objects hold JSON values; what a string means inside them is told by the type too.
"""

from __future__ import annotations

from collections.abc import Callable

from flyteidl.core.literals_pb2 import (
    Binary,
    Blob,
    BlobMetadata,
    Literal,
    LiteralCollection,
    LiteralMap,
    Primitive,
    Scalar,
    Schema,
    StructuredDataset,
    StructuredDatasetMetadata,
    Union,
    Void,
)
from flyteidl.core.types_pb2 import BlobType, LiteralType, SimpleType
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from engine.model.errors import BadInput
from engine.wire import scalars
from engine.wire.documents import parse_text
from engine.wire.mistakes import Mismatch, Mistakes, inside
from engine.wire.moments import SECOND
from engine.wire.places import Place, uri_of
from engine.wire.records import record
from engine.wire.typenames import is_pickle, type_name
from engine.wire.variants import Remote, by_fit


def to_literal(value: object, declared: LiteralType, where: str) -> Literal:
    """The literal of `declared` for `value`; a `str` is text that a person typed.

    Raises BadInput that lists every problem, each with its place (`--xs[3]`), the value and what was expected.
    """
    mistakes = Mistakes()
    literal = build(value, declared, where, mistakes)
    if mistakes.count:
        raise BadInput("\n".join(mistakes.listed()))
    return literal


def build(value: object, declared: LiteralType, where: str, mistakes: Mistakes, *, typed: bool = True) -> Literal:
    """As `to_literal`, with the problems added to `mistakes`; the literal is of use only if there are none.

    `typed`: a string is text to be read by the type, not a JSON string.
    """
    try:
        match declared.WhichOneof("type"):
            case "union_type":
                return _union(value, declared, where, mistakes, typed)
            case "collection_type":
                return _collection(_document(value, typed), declared, where, mistakes)
            case "map_value_type":
                return _map(_document(value, typed), declared, where, mistakes)
            case "simple" if declared.simple == _STRUCT:
                return Literal(scalar=record(_document(value, typed), declared, where, mistakes))
            case "simple" | "enum_type":
                return Literal(scalar=_simple(value, declared, typed))
        return Literal(scalar=_place(value, declared))
    except Mismatch as mismatch:
        mistakes.mismatch(where, value, type_name(declared), str(mismatch))
        return Literal()


def _document(value: object, typed: bool) -> object:
    return parse_text(value, files=not isinstance(value, Remote)) if typed and isinstance(value, str) else value


def _collection(value: object, declared: LiteralType, where: str, mistakes: Mistakes) -> Literal:
    if not isinstance(value, list | tuple):
        raise Mismatch
    of = declared.collection_type
    items = [build(item, of, f"{where}[{index}]", mistakes, typed=False) for index, item in enumerate(value)]
    return Literal(collection=LiteralCollection(literals=items))


def _map(value: object, declared: LiteralType, where: str, mistakes: Mistakes) -> Literal:
    if not isinstance(value, dict):
        raise Mismatch
    of, items = declared.map_value_type, {}
    for key, item in value.items():
        place = inside(where, key)
        try:
            items[scalars.string(key)] = build(item, of, place, mistakes, typed=False)
        except Mismatch as mismatch:
            mistakes.mismatch(place, key, "a key that is text", str(mismatch))
    return Literal(map=LiteralMap(literals=items))


def _union(value: object, declared: LiteralType, where: str, mistakes: Mistakes, typed: bool) -> Literal:
    """The first variant that takes the value, with its type beside it, as flytekit writes a union."""
    trials = []
    for variant in by_fit(value, declared.union_type.variants, typed):
        trial = Mistakes()
        literal = build(value, variant, where, trial, typed=typed)
        if not trial.count:
            return Literal(scalar=Scalar(union=Union(value=literal, type=variant)))
        if variant.WhichOneof("type") != "simple" or variant.simple != SimpleType.NONE:
            trials.append(trial)
    if len(trials) != 1:
        raise Mismatch
    mistakes.extend(trials[0])
    return Literal()


def _simple(value: object, declared: LiteralType, typed: bool) -> Scalar:
    if declared.WhichOneof("type") == "enum_type":
        return Scalar(primitive=Primitive(string_value=_member(value, list(declared.enum_type.values))))
    if primitive := _PRIMITIVES.get(declared.simple):
        return Scalar(primitive=primitive(value, typed))
    match declared.simple:
        case SimpleType.NONE:
            scalars.nothing(value, typed)
            return Scalar(none_type=Void())
        case SimpleType.BINARY:
            return Scalar(binary=Binary(value=scalars.binary(value)))
    raise Mismatch("only the engine makes such a value")


def _instant(value: object, typed: bool) -> Primitive:
    seconds, nanos = divmod(scalars.instant(value), SECOND)
    return Primitive(datetime=Timestamp(seconds=seconds, nanos=nanos))


def _duration(value: object, typed: bool) -> Primitive:
    """Both numbers of the message have the sign of the whole."""
    length = scalars.duration(value)
    seconds, nanos = divmod(abs(length), SECOND)
    sign = -1 if length < 0 else 1
    return Primitive(duration=Duration(seconds=sign * seconds, nanos=sign * nanos))


_STRUCT = SimpleType.STRUCT
_PRIMITIVES: dict[SimpleType, Callable[[object, bool], Primitive]] = {
    SimpleType.INTEGER: lambda value, typed: Primitive(integer=scalars.integer(value, typed)),
    SimpleType.FLOAT: lambda value, typed: Primitive(float_value=scalars.floating(value, typed)),
    SimpleType.BOOLEAN: lambda value, typed: Primitive(boolean=scalars.boolean(value, typed)),
    SimpleType.STRING: lambda value, typed: Primitive(string_value=scalars.string(value)),
    SimpleType.DATETIME: _instant,
    SimpleType.DURATION: _duration,
}


def _member(value: object, values: list[str]) -> str:
    if not isinstance(value, str) or value not in values:
        raise Mismatch(f"it must be one of {', '.join(values)}")
    return str(value)


def _place(value: object, declared: LiteralType) -> Scalar:
    if is_pickle(declared):
        raise Mismatch("a pickled Python object can't be given as text; declare a type that flytekit knows")
    match declared.WhichOneof("type"):
        case "blob":
            many = declared.blob.dimensionality == BlobType.MULTIPART
            uri = uri_of(value, Place.DIRECTORY if many else Place.FILE)
            return Scalar(blob=Blob(uri=uri, metadata=BlobMetadata(type=declared.blob)))
        case "structured_dataset_type":
            metadata = StructuredDatasetMetadata(structured_dataset_type=declared.structured_dataset_type)
            return Scalar(structured_dataset=StructuredDataset(uri=uri_of(value, Place.EITHER), metadata=metadata))
        case "schema":
            return Scalar(schema=Schema(uri=uri_of(value, Place.EITHER), type=declared.schema))
    raise Mismatch("its type is not declared")
