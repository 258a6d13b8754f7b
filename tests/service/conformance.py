"""Many executions of real workflows on one engine, and flytekit's own local execution of the same.

Packaging and warming an engine take two seconds, a small workflow a tenth of one: the tests of a module share them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from flyteidl.core.literals_pb2 import Literal

from config.load import load
from config.settings import Settings
from engine.app import Engine
from engine.cli.documents import Documents
from engine.homes import open_home
from engine.model.errors import EngineError
from engine.model.graph import GateKind, GateSpec, Graph, LaunchPlanSpec, every_node
from engine.model.ids import EntityId, ExecutionId
from engine.wire.compile import Compiled, compile_package
from engine.wire.inputs import inputs_for
from engine.wire.lookup import ensure_runnable, find_entity
from engine.wire.natural import natural, natural_map
from engine.wire.package import Package, PackageFiles
from engine.wire.packaging import read_workflows
from engine.wire.registration import register
from engine.wire.signals import typed_signal
from handlers.registry import default_handlers

WORKFLOWS = Path(__file__).parents[1] / "workflows"
LOCALLY = Path(__file__).with_name("locally.py")
LIMIT_SECONDS = 300
"""What all executions together may take; one that has not ended then is shown as it is."""
VERSION = "v1"
"""Of every package; references in tests/workflows name it."""
RUN_BY = ("engine", "flytekit")
Edit = Callable[[PackageFiles], PackageFiles]


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


def contents(value: Any) -> Any:
    """A value with what its files and folders hold in place of where they are."""
    match value:
        case dict():
            return {key: contents(item) for key, item in value.items()}
        case list():
            return [contents(item) for item in value]
        case str() if value.removeprefix("file://").startswith("/"):
            place = Path(value.removeprefix("file://"))
            inside = place.rglob("*") if place.is_dir() else [place]
            return {str(file.relative_to(place)): repr(file.read_bytes()) for file in inside if file.is_file()} or value
    return value


def as_it_is(files: PackageFiles) -> PackageFiles:
    return files


def run_cases(
    cases: Mapping[str, Case], folder: Path, *sets: str, edit: Edit = as_it_is, together: str = ""
) -> Results:
    """Every case on one engine, all at once, in a new folder.

    `sets`: settings as after --set; `edit`: what is done to each package; `together`: the module that imports those of
    all cases, so that they are packaged as one.
    """
    comparison = Comparison(cases, folder, edit, together)
    folder.mkdir(parents=True)
    anyio.run(comparison.run, load(None, sets, {}))
    return Results(comparison.documents, comparison.refused, comparison.local(), comparison.home)


@dataclass(frozen=True, slots=True)
class Ready:
    """A submission."""

    entity: EntityId
    package: str
    inputs: bytes
    local_inputs: bytes
    signals: Mapping[str, bytes]


class Comparison:
    def __init__(self, cases: Mapping[str, Case], folder: Path, edit: Edit, together: str) -> None:
        self.cases, self.folder, self.edit, self.together = cases, folder, edit, together
        self.home = folder / "engine"
        self.ready: dict[str, Ready] = {}
        self.refused: dict[str, str] = {}
        self.documents: dict[str, dict[str, Any]] = {}

    async def run(self, settings: Settings) -> None:
        async with open_home(self.home, settings) as engine:
            async with anyio.create_task_group() as group:
                for module in {self.together or case.module for case in self.cases.values()}:
                    group.start_soon(self._prepare, engine, module)
            documents = Documents(engine.log, engine.blobs, self.home)
            async with anyio.create_task_group() as group:
                group.start_soon(to_thread.run_sync, self._run_locally)
                for name, ready in self.ready.items():
                    group.start_soon(self._run, engine, ExecutionId("p", "d", name), ready)
            for name in self.ready.keys() - self.refused.keys():
                self.documents[name] = await documents.of(ExecutionId("p", "d", name))

    async def _prepare(self, engine: Engine, module: str) -> None:
        """Package a file once for all of its cases."""
        files = self.edit(await read_workflows(_file(module)))
        package, compiled = await to_thread.run_sync(_compiled, files)
        await engine.store_package(package)
        own = {name: case for name, case in self.cases.items() if self.together or case.module == module}
        await to_thread.run_sync(self._choose, package, compiled, own)

    def _choose(self, package: Package, compiled: Compiled, cases: Mapping[str, Case]) -> None:
        for name, case in cases.items():
            try:
                entity = find_entity(compiled.program, case.called or case.entity, case.module)
                ensure_runnable(compiled, entity, default_handlers(), case.module)
                target = _target(compiled, entity)
                inputs, local = (inputs_for(target, self._furnished(case.inputs, f"{name}-{by}")) for by in RUN_BY)
            except EngineError as error:
                self.refused[name] = str(error)
            else:
                self.ready[name] = Ready(entity, package.digest, inputs, local, _signals(compiled, case.signals))

    def _furnished(self, inputs: Mapping[str, object], name: str) -> dict[str, object]:
        if not leaves_files(inputs):
            return dict(inputs)
        here = self.folder / "own" / name
        here.mkdir(parents=True)
        return {
            key: value.replace("{here}", str(here)) if isinstance(value, str) else value
            for key, value in inputs.items()
        }

    async def _run(self, engine: Engine, execution: ExecutionId, ready: Ready) -> None:
        try:
            await engine.submit(execution, ready.entity, ready.package, ready.inputs)
        except EngineError as error:
            self.refused[execution.name] = str(error)
            return
        for signal_id, value in ready.signals.items():
            await engine.signal(execution, signal_id, value)
        with anyio.move_on_after(LIMIT_SECONDS):
            await engine.wait(execution)

    def _run_locally(self) -> None:
        wanted = [
            {"case": name, "module": case.module, "entity": case.entity, "inputs": self.ready[name].local_inputs.hex()}
            for name, case in self.cases.items()
            if case.local and name in self.ready
        ]
        if wanted:
            command = [sys.executable, str(LOCALLY), str(WORKFLOWS), str(self._found)]
            given = json.dumps(wanted).encode()
            subprocess.run(command, input=given, check=True, capture_output=True, cwd=self.folder)

    @property
    def _found(self) -> Path:
        return self.folder / "locally.json"

    def local(self) -> dict[str, Mapping[str, Any] | str]:
        """Natural JSON of the outputs of local execution, or what it raised."""
        if not self._found.exists():
            return {}
        found = json.loads(self._found.read_text())
        return {
            name: natural_map(bytes.fromhex(told["outputs"])) if "outputs" in told else told["error"]
            for name, told in found.items()
        }


def _file(module: str) -> Path:
    place = WORKFLOWS.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _compiled(files: PackageFiles) -> tuple[Package, Compiled]:
    package = register(files, project="p", domain="d", version=VERSION)
    return package, compile_package(package)


def _target(compiled: Compiled, entity: EntityId) -> LaunchPlanSpec | Graph:
    plans = compiled.program.launch_plans
    return plans[entity] if entity in plans else compiled.program.workflows[entity]


def _signals(compiled: Compiled, given: Mapping[str, object]) -> dict[str, bytes]:
    """Typed by their gates; those in the plans of dynamic tasks, which are not known yet, are approvals."""
    nodes = [node for graph in compiled.program.workflows.values() for node in every_node(graph)]
    gates = {node.gate.signal_id: node.gate for node in nodes if node.gate}
    return {
        name: typed_signal(gates.get(name, GateSpec(GateKind.APPROVE, name)), value) for name, value in given.items()
    }
