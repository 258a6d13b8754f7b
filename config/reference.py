"""What settings there are, read off the models: for checking keys and for docs/configuration.md.

`python -m config.reference` prints that page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from config.group import Group
from config.settings import Settings
from config.sources import PREFIX
from config.values import Named, size_text

PAGE = """\
# Configuration

Every setting, with its default. This page is made from the types in `config/` by `make docs`; a test keeps them equal.

Settings come from four places. A later one wins, key by key:

1. `config/defaults.yaml`, which is part of the package;
2. a YAML file: `--config FILE`, or else the file that the environment variable `PROPWASH_CONFIG` names;
3. environment variables: `PROPWASH_OFFLOADING__MIN_SIZE=1MiB` sets `offloading.min_size` (two underscores for the dot);
4. arguments: `--set offloading.min_size=1MiB`, as often as needed.

All problems are reported at once, each with the key, the value, where it came from and what was expected; nothing is
started then, and the exit code is 2. Values of variables and arguments are read as YAML. Sizes are whole numbers of
bytes, or a number with a unit: kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024).

`PROPWASH_HOME` (the default of `--home`), `PROPWASH_CONFIG`, `PROPWASH_DEBUG` and `PROPWASH_KAFKA_PASSWORD` (a secret,
which no message shows and no task gets) are not settings, and neither are the variables that Kubernetes sets in pods
beside a Service named `propwash`. Any other variable that begins with `PROPWASH_` is an error.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    group: str
    name: str
    type: str
    """For people: `size`, `whole number or null`, `full | normal`."""
    default: str
    """As it would stand in a YAML file."""
    doc: str
    is_text: bool
    is_map: bool
    keys: tuple[Setting, ...] = ()
    """Those of its value, where that is a group in itself."""

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"{PREFIX}{self.group}__{self.name}".upper()


@cache
def known_settings() -> Mapping[str, Setting]:
    """Every setting by its dotted key, in the order of the models."""
    return {
        f"{group}.{name}": _setting(group, name, field)
        for group, model in groups().items()
        for name, field in model.model_fields.items()
    }


def groups() -> dict[str, type[Group]]:
    found = {name: field.annotation for name, field in Settings.model_fields.items()}
    return {name: model for name, model in found.items() if isinstance(model, type) and issubclass(model, Group)}


def describe() -> list[tuple[str, str, str, str]]:
    """(key, type, default, documentation) of every setting."""
    return [(key, setting.type, setting.default, setting.doc) for key, setting in known_settings().items()]


def page() -> str:
    """The text of docs/configuration.md."""
    parts = [PAGE]
    for group, model in groups().items():
        parts.append(f"\n## `{group}`\n\n{cleandoc(model.__doc__ or '')}\n")
        for setting in known_settings().values():
            if setting.group == group:
                doc = " ".join(setting.doc.split())
                parts.append(f"\n### `{setting.key}`\n\n{setting.type}, default `{setting.default}`. {doc}\n")
        parts += _keys([setting for setting in known_settings().values() if setting.group == group])
    return "".join(parts)


def _keys(settings: Sequence[Setting]) -> Iterator[str]:
    """What stands in the values of a group's settings, once for each kind of value."""
    for kind, keys in {setting.type.removesuffix(" or null"): setting.keys for setting in settings}.items():
        if keys:
            yield f"\n### Keys of a {kind}\n\n"
            for key in keys:
                yield f"- `{key.name}`: {key.type}, default `{key.default}`. {' '.join(key.doc.split())}\n"


def _setting(group: str, name: str, field: FieldInfo) -> Setting:
    kind = field.annotation
    optional = NoneType in get_args(kind)
    if optional:
        kind = next(part for part in get_args(kind) if part is not NoneType)
    named = [mark.name for mark in (*field.metadata, *getattr(kind, "__metadata__", ())) if isinstance(mark, Named)]
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    is_map = get_origin(kind) is Mapping
    model = kind.model_fields if isinstance(kind, type) and issubclass(kind, Group) else {}
    return Setting(
        group=group,
        name=name,
        type=_type_name(kind, named) + (" or null" if optional else ""),
        default=_text(field.default, is_size="size" in named),
        doc=field.description or "",
        is_text=kind is str or is_map,
        is_map=is_map or bool(model),
        keys=tuple(_setting(f"{group}.{name}", key, field) for key, field in model.items()),
    )


def _type_name(kind: object, named: list[str]) -> str:
    if named:
        return named[0]
    if get_origin(kind) is Literal:
        return " | ".join(get_args(kind))
    return "true or false" if kind is bool else str(kind)


def _text(value: object, *, is_size: bool) -> str:
    if is_size and isinstance(value, int):
        return size_text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {item}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value))


if __name__ == "__main__":
    print(page(), end="")
