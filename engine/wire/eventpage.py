"""What docs/events.md says of every public event and fact: its fields, an example and a JSON schema, from the types.

`python -m engine.wire.eventpage` writes that part of the page anew.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

from engine.model.errors import Failure
from engine.model.events import VERSION, AbortRequested, Event, NodeRetryRequested
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from engine.model.requests import ExecutionRequested, SignalGiven
from engine.model.state import Fact
from engine.wire.codec import STATE_VERSION
from engine.wire.publicform import INTERNAL, PUBLIC

MARK = "<!-- From here on the page is made by `make docs`. -->\n"
_ID = {"project": "flytesnacks", "domain": "development", "name": "order-7"}
EXAMPLES: dict[type[Struct], dict[str, object]] = {
    ExecutionRequested: {
        "v": VERSION,
        "type": "execution.requested",
        "execution": _ID,
        "entity": "flows.chain.wf:v1",
        "inputs": {"n": 3},
        "overrides": {"labels": {"team": "x"}, "architecture": "arm64"},
        "request": "7f3a",
    },
    AbortRequested: {"v": VERSION, "type": "execution.abort_requested", "execution": _ID, "cause": "no longer needed"},
    SignalGiven: {"v": VERSION, "type": "signal.given", "execution": _ID, "signal_id": "how-many", "value": 12},
    NodeRetryRequested: {"v": VERSION, "type": "node.retry_requested", "execution": _ID, "path": "n1/0/n0"},
    Fact: {
        "v": STATE_VERSION,
        "execution": _ID,
        "sequence": 14,
        "at": 1775000000.25,
        "phase": "SUCCEEDED",
        "outputs_uri": "s3://bucket/metadata/propeller/flytesnacks-development-order-7/end-node/data/0/outputs.pb",
    },
}
"""Each as it would stand in a record; a test reads them."""


def page(before: str) -> str:
    """The text of docs/events.md. `before`: as it was; what stands above MARK was written by hand, and stays."""
    parts = [before.partition(MARK)[0], MARK, "\n## Events that anybody may publish\n"]
    parts += [_section(noun) for noun in PUBLIC]
    parts.append("\n## Parts of events\n")
    parts += [_part(noun) for noun in (ExecutionId, Overrides)]
    parts.append("\n## Facts of the history\n")
    parts += [_section(Fact), _part(Failure)]
    own = sorted(str(noun.__struct_config__.tag) for noun in get_args(Event) if noun not in PUBLIC)
    listed = ", ".join(f"`{tag}`" for tag in own)
    parts.append(f"\n## Events of the engines\n\n{_OWN.format(listed=listed)}")
    return "".join(parts)


_OWN = """\
Engines write these to the same topic, for themselves and each other: {listed}. Their fields may change with any
version. Whoever else publishes them can harm the execution that they name, so give the right to write to the topic of
events to none but engines and submitters. As JSON they are refused.
"""


def schema(noun: type[Struct]) -> dict[str, Any]:
    """The JSON schema of one event or fact as it stands in a record."""
    (found,), components = msgspec.json.schema_components([noun], schema_hook=_schema_of, ref_template="#/$defs/{name}")
    own = components.pop(noun.__name__)
    assert found == {"$ref": f"#/$defs/{noun.__name__}"}
    for hidden in INTERNAL.get(noun, ()):
        own["properties"].pop(hidden)
    version = VERSION if noun in PUBLIC else STATE_VERSION
    own["properties"] = {"v": {"const": version}, **own["properties"]}
    own["required"] = ["v", *own.get("required", [])]
    if noun in PUBLIC:
        own["additionalProperties"] = False
    used = {name: components[name] for name in _used(own, components)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **own, **({"$defs": used} if used else {})}


def _schema_of(kind: type) -> dict[str, Any]:
    assert kind is object, kind
    return {"description": "any JSON value"}


def _used(schema: Any, components: dict[str, Any]) -> list[str]:
    """Names of the components that a schema refers to, through others too."""
    found: list[str] = []
    waiting = [json.dumps(schema)]
    while waiting:
        text = waiting.pop()
        for name in sorted(components):
            if f'"#/$defs/{name}"' in text and name not in found:
                found.append(name)
                waiting.append(json.dumps(components[name]))
    return sorted(found)


def _section(noun: type[Struct]) -> str:
    title = str(noun.__struct_config__.tag or noun.__name__.lower())
    example = json.dumps(EXAMPLES[noun], indent=2)
    table = "".join(_rows(noun))
    return (
        f"\n### `{title}`\n\n{_about(noun)}\n\n{table}\n"
        f"```json\n{example}\n```\n\n<details><summary>JSON schema</summary>\n\n"
        f"```json\n{json.dumps(schema(noun), indent=1)}\n```\n\n</details>\n"
    )


def _part(noun: type[Struct]) -> str:
    about = f"{text}\n\n" if (text := _about(noun)) else ""
    return f"\n### {noun.__name__}\n\n{about}{''.join(_rows(noun))}"


def _about(noun: type[Struct]) -> str:
    """Its own docstring: what a class inherits tells of msgspec."""
    return inspect.cleandoc(noun.__doc__ or "")


def _rows(noun: type[Struct]) -> Iterator[str]:
    yield "| field | type | default | meaning |\n|---|---|---|---|\n"
    docs = dict(_docs(noun))
    if noun in EXAMPLES:
        yield f"| `v` | int | required | version: {VERSION if noun in PUBLIC else STATE_VERSION} |\n"
    if noun.__struct_config__.tag:
        yield f"| `type` | str | required | `{noun.__struct_config__.tag}` |\n"
    for field in structs.fields(noun):
        if field.name not in INTERNAL.get(noun, ()):
            kind = str(_annotation(noun, field.name)).replace(" | UnsetType", "").replace("|", "\\|")
            yield f"| `{field.encode_name}` | {kind} | {_default(field)} | {docs.get(field.name, '')} |\n"


def _annotation(noun: type[Struct], name: str) -> object:
    found: object = noun.__annotations__[name]
    return found


def _default(field: structs.FieldInfo) -> str:
    if field.required:
        return "required"
    if isinstance(field.default, Struct) or field.default is msgspec.UNSET:
        return "none"
    if field.default is not msgspec.NODEFAULT:
        return f"`{json.dumps(field.default)}`"
    return "empty"


def _docs(noun: type[Struct]) -> Iterator[tuple[str, str]]:
    """What stands below each field in the source."""
    (body,) = ast.parse(inspect.getsource(noun)).body
    assert isinstance(body, ast.ClassDef)
    for before, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
            assert isinstance(before.target, ast.Name)
            assert isinstance(after.value, ast.Constant)
            yield before.target.id, " ".join(str(after.value.value).split()).replace("|", "\\|")


if __name__ == "__main__":
    file = Path("docs/events.md")
    file.write_text(page(file.read_text()))
