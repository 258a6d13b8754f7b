"""Many executions of real workflows on one engine, and flytekit's own local execution of the same.

Packaging and warming an engine take two seconds, a small workflow a tenth of one: the tests of a module share them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from config.load import load
from config.settings import Settings
from engine.app import Engine
from engine.gateway.documents import Documents
from engine.homes import open_home
from engine.model.errors import EngineError
from engine.model.graph import GateKind, GateSpec, Graph, LaunchPlanSpec, every_node
from engine.model.ids import EntityId, ExecutionId
from engine.wire.compile import Compiled, compile_package
from engine.wire.inputs import inputs_for
from engine.wire.lookup import ensure_runnable, find_entity
from engine.wire.natural import natural_map
from engine.wire.package import Package, PackageFiles
from engine.wire.packaging import read_workflows
from engine.wire.registration import register
from engine.wire.signals import typed_signal
from handlers.registry import default_handlers
from tests.service.cases import Case, Results, Wrong, furnished

__all__ = ["Case", "Results", "Wrong", "run_cases"]

WORKFLOWS = Path(__file__).parents[1] / "workflows"
LOCALLY = Path(__file__).with_name("locally.py")
LIMIT_SECONDS = 300
"""What all executions together may take; one that has not ended then is shown as it is."""
VERSION = "v1"
"""Of every package; references in tests/workflows name it."""
RUN_BY = ("engine", "flytekit")
Edit = Callable[[PackageFiles], PackageFiles]


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
    return Results(comparison.documents, comparison.refused, comparison.local, comparison.home)


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
        self.local: Mapping[str, Mapping[str, Any] | str] = {}

    async def run(self, settings: Settings) -> None:
        async with open_home(self.home, settings) as engine:
            async with anyio.create_task_group() as group:
                for module in {self.together or case.module for case in self.cases.values()}:
                    group.start_soon(self._prepare, engine, module)
            async with anyio.create_task_group() as group:
                group.start_soon(to_thread.run_sync, self._run_locally)
                group.start_soon(self._run, engine)

    async def _run(self, engine: Engine) -> None:
        async with anyio.create_task_group() as group:
            for name, ready in self.ready.items():
                group.start_soon(self._submit, engine, ExecutionId("p", "d", name), ready)
        self.accepted()
        documents = Documents(engine.log, engine.blobs, self.home)
        with anyio.move_on_after(LIMIT_SECONDS):
            for name in self.ready.keys() - self.refused.keys():
                await engine.wait(ExecutionId("p", "d", name))
        for name in self.ready.keys() - self.refused.keys():
            self.documents[name] = await documents.of(ExecutionId("p", "d", name))

    def accepted(self) -> None:
        """Every submission and every signal is acknowledged."""

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
                inputs, local = (
                    inputs_for(target, furnished(case.inputs, self.folder / "own" / f"{name}-{by}")) for by in RUN_BY
                )
            except EngineError as error:
                self.refused[name] = str(error)
            else:
                self.ready[name] = Ready(entity, package.digest, inputs, local, _signals(compiled, case.signals))

    async def _submit(self, engine: Engine, execution: ExecutionId, ready: Ready) -> None:
        try:
            await engine.submit(execution, ready.entity, ready.package, ready.inputs)
        except EngineError as error:
            self.refused[execution.name] = str(error)
            return
        for signal_id, value in ready.signals.items():
            await engine.signal(execution, signal_id, value)

    def _run_locally(self) -> None:
        wanted = {name: self.ready[name].local_inputs for name in self.ready if self.cases[name].local}
        self.local = run_locally(self.cases, wanted, WORKFLOWS, self.folder)


def run_locally(
    cases: Mapping[str, Case], inputs: Mapping[str, bytes | Mapping[str, object]], modules: Path, folder: Path
) -> dict[str, Mapping[str, Any] | str]:
    """Those cases that have inputs (a serialized `LiteralMap`, or what Python is given): outputs as JSON, or the error.

    modules: the folder of the authors' modules; folder: where files of this may lie. Blocking.
    """
    if not inputs:
        return {}
    found = folder / "locally.json"
    wanted = [
        {
            "case": name,
            "module": cases[name].module,
            "entity": cases[name].entity,
            "inputs": given.hex() if isinstance(given, bytes) else given,
        }
        for name, given in inputs.items()
    ]
    command = [sys.executable, str(LOCALLY), str(modules), str(found)]
    subprocess.run(command, input=json.dumps(wanted).encode(), check=True, capture_output=True, cwd=folder)
    return found_locally(folder)


def found_locally(folder: Path) -> dict[str, Mapping[str, Any] | str]:
    """What `run_locally` found before in that folder."""
    found = folder / "locally.json"
    return {
        name: natural_map(bytes.fromhex(told["outputs"])) if "outputs" in told else told["error"]
        for name, told in json.loads(found.read_text()).items()
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
