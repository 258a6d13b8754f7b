"""What is run through an engine and through flytekit's local execution, and what came out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flyteidl.core.literals_pb2 import Literal

from engine.wire.natural import natural, natural_map


@dataclass(frozen=True, slots=True)
class Wrong:
    """How an execution fails."""

    code: str
    message: str
    """A part of the engine's."""
    node: str | None = "n0"
    kind: str = "USER"
    local: str = ""
    """A part of what local execution raises; empty: `message`."""


@dataclass(frozen=True, slots=True)
class Case:
    """One execution of a workflow or launch plan of tests/workflows."""

    module: str
    entity: str
    inputs: Mapping[str, object] = field(default_factory=dict)
    """A text may name `{here}`, a fresh folder of this execution's own."""
    local: bool = True
    """flytekit's local execution can tell what is right."""
    right: Mapping[str, object] | Wrong | None = None
    """Given by hand: the outputs, or how it fails. None: what local execution gives."""
    why: str = ""
    """Why local execution can't tell."""
    left: Mapping[str, str] | None = None
    """What the files in `{here}` hold at the end. None: what local execution leaves there."""
    signals: Mapping[str, object] = field(default_factory=dict)
    """Set as soon as it is submitted; a bool is an approval."""
    called: str = ""
    """Its name in the package, where that is not its Python name."""
    needs: str = ""
    """A service of tests/services.py."""


@dataclass(frozen=True, slots=True)
class Results:
    """By the case's name, which is the execution's."""

    documents: Mapping[str, dict[str, Any]]
    refused: Mapping[str, str]
    local: Mapping[str, Mapping[str, Any] | str]
    """Natural JSON of the outputs, or what was raised."""
    home: Path

    def outputs(self, name: str) -> Any:
        """Of an execution that has succeeded."""
        document = self._document(name)
        assert document["phase"] == "SUCCEEDED", document["error"] or document["nodes"]
        return document["outputs"]

    def error(self, name: str) -> dict[str, Any]:
        """Of an execution that has failed."""
        document = self._document(name)
        assert document["phase"] == "FAILED", document["outputs"] or document["nodes"]
        error: dict[str, Any] = document["error"]
        return error

    def node(self, name: str, path: str) -> dict[str, Any]:
        (found,) = [node for node in self._document(name)["nodes"] if node["path"] == path]
        return dict(found)

    def left(self, name: str, by: str) -> dict[str, str]:
        """What the files in `{here}` hold, by their names."""
        return {file.name: file.read_text() for file in self.home.with_name("own").joinpath(f"{name}-{by}").iterdir()}

    def _document(self, name: str) -> dict[str, Any]:
        assert name not in self.refused, self.refused[name]
        return self.documents[name]

    @staticmethod
    def stored(uri: str) -> Any:
        """Natural JSON of an inputs.pb or outputs.pb."""
        return natural_map(Path(uri.removeprefix("file://")).read_bytes())

    @staticmethod
    def referred(value: Any) -> Any:
        """Natural JSON of what an offloaded value refers to; its size is checked."""
        data = Path(value["offloaded"]["uri"].removeprefix("file://")).read_bytes()
        assert value == {"offloaded": {"uri": value["offloaded"]["uri"], "size_bytes": len(data)}}
        return natural(Literal.FromString(data))


def leaves_files(inputs: Mapping[str, object]) -> bool:
    return any(isinstance(value, str) and "{here}" in value for value in inputs.values())


def furnished(inputs: Mapping[str, object], here: Path) -> dict[str, object]:
    """The inputs with the path of `{here}`, which is made where it is wanted."""
    if not leaves_files(inputs):
        return dict(inputs)
    here.mkdir(parents=True)
    return {
        name: value.replace("{here}", str(here)) if isinstance(value, str) else value for name, value in inputs.items()
    }


def contents(value: Any) -> Any:
    """A value with what its files, folders and references hold in place of where they are."""
    match value:
        case {"offloaded": _}:
            return contents(Results.referred(value))
        case dict():
            return {key: contents(item) for key, item in value.items()}
        case list():
            return [contents(item) for item in value]
        case str() if value.removeprefix("file://").startswith("/"):
            place = Path(value.removeprefix("file://"))
            inside = place.rglob("*") if place.is_dir() else [place]
            return {str(file.relative_to(place)): repr(file.read_bytes()) for file in inside if file.is_file()} or value
    return value


def of_those(cases: Mapping[str, Case]) -> list[object]:
    """Parameters `name, case` of a test."""
    return [
        pytest.param(name, case, id=name, marks=[pytest.mark.service(case.needs)] if case.needs else [])
        for name, case in cases.items()
    ]


def check(results: Results, name: str, case: Case) -> None:
    """The outcome is that of local execution, or the one given by hand."""
    if isinstance(case.right, Wrong):
        _check_error(results, name, case, case.right)
    else:
        right = case.right if case.right is not None else results.local[name]
        # As text, so that 3 is not 3.0 nor True 1.
        assert _text(results.outputs(name)) == _text(right)
    if leaves_files(case.inputs) and (case.local or case.left is not None):
        left = case.left if case.left is not None else results.left(name, "flytekit")
        assert results.left(name, "engine") == left


def _check_error(results: Results, name: str, case: Case, right: Wrong) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == (right.code, right.kind, right.node)
    assert right.message in error["message"]
    if case.local:
        assert (right.local or right.message) in results.local[name]


def _text(outputs: object) -> str:
    return json.dumps(contents(outputs), sort_keys=True, ensure_ascii=False)
