"""A JSON value brought into the shape of a dataclass or pydantic model, by the JSON schema in its flyteidl type.

What comes out is what flytekit's own encoders write: floats where a field is a float, defaults filled in (so that the
engine can read a field of the value without Python), times as ISO 8601 text, files as `{"path": ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from engine.wire import fields
from engine.wire.fields import Shaped
from engine.wire.mistakes import Mismatch, Mistakes, closest, inside
from engine.wire.places import Place, uri_of
from engine.wire.schemas import Schema, choices, fields_of, names_in, part_of, parts_of, resolve, schema_name

_JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


class Shaper:
    """Walks a value along a schema. What does not fit goes to `mistakes`; the result is then of no use."""

    def __init__(self, root: Schema, mistakes: Mistakes, deepest: int) -> None:
        self._root, self._mistakes, self._deepest = root, mistakes, deepest

    def shape(self, value: object, schema: Schema, where: str, depth: int = 0) -> Shaped:
        if depth > self._deepest:
            self._mistakes.add(where, f"nested more than {self._deepest} levels deep")
            return None
        schema = resolve(schema, self._root)
        if alternatives := choices(schema, self._root):
            return self._one_of(value, alternatives, where, depth)
        if place := fields.place_of(schema):
            return self._place(value, schema, where, place)
        if "enum" in schema or "const" in schema:
            return self._scalar(value, schema, where)
        match schema.get("type"):
            case "object":
                return self._object(value, schema, where, depth)
            case "array":
                return self._array(value, schema, where, depth)
            case "string" | "integer" | "number" | "boolean" | "null":
                return self._scalar(value, schema, where)
        return self._free(value, where, depth)

    def _one_of(self, value: object, alternatives: list[Schema], where: str, depth: int) -> Shaped:
        """The first alternative that fits; those of the value's own JSON type come first."""
        own = _JSON_TYPES.get(type(value))
        trials = []
        for choice in sorted(alternatives, key=lambda choice: choice.get("type") != own):
            trial = Mistakes()
            shaped = Shaper(self._root, trial, self._deepest).shape(value, choice, where, depth + 1)
            if not trial.count:
                return shaped
            if choice.get("type") != "null":
                trials.append(trial)
        if len(trials) == 1:
            self._mistakes.extend(trials[0])
        else:
            self._mistakes.mismatch(where, value, schema_name({"anyOf": [dict(c) for c in alternatives]}, self._root))
        return None

    def _scalar(self, value: object, schema: Schema, where: str) -> Shaped:
        try:
            return fields.field(value, schema)
        except Mismatch as mismatch:
            self._mistakes.mismatch(where, value, schema_name(schema, self._root), str(mismatch))
            return None

    def _object(self, value: object, schema: Schema, where: str, depth: int) -> Shaped:
        if not isinstance(value, dict):
            self._mistakes.mismatch(where, value, schema_name(schema, self._root))
            return None
        if "properties" in schema:
            return self._record(value, schema, where, depth)
        keys, values = part_of(schema, "propertyNames"), part_of(schema, "additionalProperties")
        return {
            self._key(key, keys, where): self.shape(item, values, inside(where, key), depth + 1)
            for key, item in value.items()
        }

    def _place(self, value: object, schema: Schema, where: str, place: tuple[str, Place]) -> Shaped:
        """A file and the like, given by its URI alone or by the object that flytekit writes."""
        name, kind = place
        record = self._record(value if isinstance(value, dict) else {name: value}, schema, where, 0)
        try:
            return record | {name: uri_of(record.get(name), kind)}
        except Mismatch as mismatch:
            self._mistakes.mismatch(where, value, kind.value, str(mismatch))
            return None

    def _record(
        self, value: Mapping[object, object], schema: Schema, where: str, depth: int
    ) -> dict[str | int, Shaped]:
        """Fields in the order of the schema (equal values give equal bytes, whoever typed them), then extra ones."""
        shaped: dict[str | int, Shaped] = {}
        required = names_in(schema, "required")
        for name, part in fields_of(schema):
            if name in value:
                shaped[name] = self.shape(value[name], part, inside(where, name), depth + 1)
            elif "default" in part:
                shaped |= self._default(name, part, where, depth)
            elif name in required:
                self._mistakes.add(inside(where, name), f"missing, expected {schema_name(part, self._root)}")
        return shaped | self._extra(value, schema, where, depth)

    def _default(self, name: str, part: Schema, where: str, depth: int) -> dict[str | int, Shaped]:
        """The field with its default; without one that can be told in JSON, the task's own Python fills it in."""
        trial = Mistakes()
        default = Shaper(self._root, trial, self._deepest).shape(part["default"], part, where, depth + 1)
        return {} if trial.count else {name: default}

    def _extra(self, value: Mapping[object, object], schema: Schema, where: str, depth: int) -> dict[str | int, Shaped]:
        """Fields that the schema does not name."""
        known = part_of(schema, "properties")
        unknown = [key for key in value if key not in known]
        if schema.get("additionalProperties"):
            part = part_of(schema, "additionalProperties")
            return {
                self._key(key, {}, where): self.shape(value[key], part, inside(where, key), depth + 1)
                for key in unknown
            }
        for key in unknown:
            name = schema_name(schema, self._root)
            self._mistakes.add(inside(where, key), f"{name} has no such field{closest(key, known)}")
        return {}

    def _array(self, value: object, schema: Schema, where: str, depth: int) -> Shaped:
        if not isinstance(value, list | tuple):
            self._mistakes.mismatch(where, value, schema_name(schema, self._root))
            return None
        items, first = part_of(schema, "items"), parts_of(schema, "prefixItems")
        if first and len(value) != len(first):
            self._mistakes.mismatch(where, value, f"{len(first)} items", f"it has {len(value)}")
        return [
            self.shape(item, first[index] if index < len(first) else items, f"{where}[{index}]", depth + 1)
            for index, item in enumerate(value)
        ]

    def _free(self, value: object, where: str, depth: int) -> Shaped:
        """Anything JSON can hold."""
        match value:
            case dict():
                return self._object(value, {}, where, depth)
            case list() | tuple():
                return self._array(value, {}, where, depth)
            case date():
                return value.isoformat()
        kind = _JSON_TYPES.get(type(value), "string" if isinstance(value, str) else "")
        return self._scalar(value, {"type": kind}, where)

    def _key(self, key: object, schema: Schema, where: str) -> str | int:
        try:
            return fields.key(key, schema)
        except Mismatch as mismatch:
            self._mistakes.add(where, f"expected a key that is {mismatch}")
            return ""
