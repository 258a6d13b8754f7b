"""Where settings come from: four sources, read into nested maps without judging the values.

The names of environment variables are checked too, because a misspelt one would otherwise be ignored without a word.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

PREFIX = "PROPWASH_"
NOT_SETTINGS = (
    re.compile(r"PROPWASH_(HOME|CONFIG|DEBUG)"),  # the command line reads them itself
    re.compile(r"PROPWASH_KAFKA_PASSWORD"),  # a secret, which no list of settings shows
    re.compile(r"PROPWASH_RUNNER_\w+"),  # marks the processes of a task, which may run an engine of its own
    # Kubernetes sets these in every pod beside a Service named `propwash...`.
    re.compile(r"PROPWASH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)"),
)

Tree = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the settings."""

    key: str
    value: object
    origin: str
    """Where it came from: `defaults`, `file PATH`, `environment variable NAME` or `--set`."""
    expected: str

    def __str__(self) -> str:
        what = f"{self.key} = {self.value!r} (from {self.origin})" if self.key else self.origin
        return f"{what}: {self.expected}"


@dataclass(frozen=True, slots=True)
class Source:
    """Settings as one source gives them."""

    origin: str
    tree: Tree


@dataclass(frozen=True, slots=True)
class Typed:
    """A value as typed in a variable or an argument, and as YAML reads it."""

    text: str
    value: object


def from_file(path: str | Path, origin: str) -> Source | Problem:
    """One YAML file with a map of sections, or what is wrong with it."""
    try:
        tree = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except (OSError, UnicodeDecodeError) as error:
        return Problem("", None, origin, f"can't be read: {error}")
    except yaml.YAMLError as error:
        return Problem("", None, origin, f"is not valid YAML: {error}")
    if tree is None:
        return Source(origin, {})
    if not isinstance(tree, dict):
        return Problem("", None, origin, f"expected a map of sections, found {tree!r}")
    return Source(origin, tree)


def from_environ(environ: Mapping[str, str]) -> Iterator[Source | Problem]:
    """Variables such as `PROPWASH_OFFLOADING__MIN_SIZE`, each a source of its own, in alphabetical order."""
    for name in sorted(environ):
        if not name.startswith(PREFIX) or any(pattern.fullmatch(name) for pattern in NOT_SETTINGS):
            continue
        group, *rest = name.removeprefix(PREFIX).split("__")
        path = [group.lower(), *(part.lower() for part in rest[:1]), *rest[1:]]
        yield _typed(path, environ[name], f"environment variable {name}")


def from_sets(sets: Sequence[str]) -> Iterator[Source | Problem]:
    """Arguments of `--set`, in the order given."""
    for text in sets:
        key, equals, value = text.partition("=")
        if not equals or not key:
            yield Problem("", None, f"--set {text}", "expected KEY=VALUE, such as offloading.min_size=1MiB")
        else:
            yield _typed(key.strip().split("."), value, "--set")


def _typed(path: Sequence[str], text: str, origin: str) -> Source | Problem:
    try:
        value = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        return Problem(".".join(path), text, origin, f"is not valid YAML: {error}")
    tree: object = Typed(text, value)
    for part in reversed(path):
        tree = {part: tree}
    assert isinstance(tree, dict)
    return Source(origin, tree)


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a key that stands twice is an error, not a silent loss of the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # the base class refuses it
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)
