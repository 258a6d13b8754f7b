"""JSON and YAML as people write them: errors name the line, a repeated key is an error, YAML means what it says.

YAML is read by the core schema of YAML 1.2: `yes`, `NO`, `1:30` and `2024-01-01` are text, and the declared type of an
input decides what the text stands for; PyYAML's own rules would make them true, false, 90 and a date.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from pathlib import Path

import yaml

from engine.model.errors import BadInput
from engine.wire.mistakes import Mismatch, shown

_TAG = "tag:yaml.org,2002:"


def parse_text(text: str, *, files: bool = True) -> object:
    """A JSON document in a typed value, or the content of the JSON or YAML file that it names. Raises Mismatch.

    `files`: it may name one.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        reason = str(error)
    if not files:
        raise Mismatch(f"no JSON ({reason})")
    if _is_file(text):
        try:
            return read_document(Path(text))
        except BadInput as error:
            raise Mismatch(str(error)) from error
    raise Mismatch(f"neither JSON ({reason}) nor a file")


def read_document(path: Path) -> object:
    """The content of a JSON file, or of a YAML file (every other suffix). Raises BadInput naming file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} can't be read: {error}") from error
    try:
        return parse_json(text) if path.suffix.lower() == ".json" else yaml.load(text, _Yaml)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}:" if mark else ""
        raise BadInput(f"{path}:{line} {error.problem or error}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise BadInput(f"{path}: {error}") from error
    except RecursionError as error:
        raise BadInput(f"{path}: nested too deeply") from error


def parse_json(text: str) -> object:
    """Raises ValueError with line and column; numbers that no float holds and repeated keys are errors too."""
    try:
        value: object = json.loads(text, object_pairs_hook=_unique, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} occurs twice in one object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a float")
    return number


class _Yaml(yaml.SafeLoader):
    """The core schema of YAML 1.2, with repeated keys refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _TAG + "merge":
                if (key.tag, key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {shown(key.value)} occurs twice in one mapping", problem_mark=key.start_mark
                    )
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def construct_integer(self, node: yaml.ScalarNode) -> int:
        text = str(node.value)
        return int(text, 0) if text.startswith(("0x", "0o")) else int(text)

    def construct_float(self, node: yaml.ScalarNode) -> float:
        text = str(node.value).lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan")) if text[-1].isalpha() else _finite(text)


_Yaml.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", list("-+0123456789")),
    (
        "float",
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z",
        list("-+.0123456789"),
    ),
    ("merge", r"<<\Z", ["<"]),
):
    _Yaml.add_implicit_resolver(_TAG + _name, re.compile(_pattern), _first)
_Yaml.add_constructor(_TAG + "int", _Yaml.construct_integer)
_Yaml.add_constructor(_TAG + "float", _Yaml.construct_float)
