"""Many executions of real workflows on one engine, and flytekit's own local execution of the same.

Packaging a file and warming an engine take two seconds, a small workflow a tenth of one: the tests of a module share
them.
"""

from __future__ import annotations

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
from engine.cli.workflows import Chosen, choose
from engine.homes import open_home
from engine.model.ids import ExecutionId
from engine.wire.inputs import inputs_for
from engine.wire.natural import natural, natural_map
from engine.wire.package import PackageFiles
from engine.wire.packaging import read_workflows

WORKFLOWS = Path(__file__).parents[1] / "workflows"
LOCALLY = Path(__file__).with_name("locally.py")
Edit = Callable[[PackageFiles], PackageFiles]


@dataclass(frozen=True, slots=True)
class Case:
    """One execution of a workflow or launch plan of tests/workflows."""

    module: str
    entity: str
    inputs: Mapping[str, object] = field(default_factory=dict)
    local: bool = True
    """flytekit's local execution can tell what is right."""


@dataclass(frozen=True, slots=True)
class Results:
    """By the case's name, which is the execution's."""

    documents: Mapping[str, dict[str, Any]]
    local: Mapping[str, Mapping[str, Any] | str]
    """Natural JSON of the outputs, or what was raised."""
    home: Path

    def outputs(self, name: str) -> Any:
        """Of an execution that has succeeded."""
        document = self.documents[name]
        assert document["phase"] == "SUCCEEDED", document["error"]
        return document["outputs"]

    def error(self, name: str) -> dict[str, Any]:
        """Of an execution that has failed."""
        document = self.documents[name]
        assert document["phase"] == "FAILED", document["outputs"]
        error: dict[str, Any] = document["error"]
        return error

    def node(self, name: str, path: str) -> dict[str, Any]:
        (found,) = [node for node in self.documents[name]["nodes"] if node["path"] == path]
        return dict(found)

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


def as_it_is(files: PackageFiles) -> PackageFiles:
    return files


def run_cases(cases: Mapping[str, Case], home: Path, *sets: str, edit: Edit = as_it_is) -> Results:
    """Every case on one engine, all at once. `sets`: settings as after --set; `edit`: what is done to each package."""
    folder = home / "local"
    folder.mkdir(parents=True)
    documents = anyio.run(_run_cases, cases, home, load(None, sets, {}), folder, edit)
    return Results(documents, _local(folder), home / "engine")


async def _run_cases(
    cases: Mapping[str, Case], home: Path, settings: Settings, folder: Path, edit: Edit
) -> dict[str, dict[str, Any]]:
    documents: dict[str, dict[str, Any]] = {}
    ready: dict[str, tuple[Chosen, bytes]] = {}
    async with open_home(home / "engine", settings) as engine:
        async with anyio.create_task_group() as group:
            for module in {case.module for case in cases.values()}:
                group.start_soon(_prepare, engine, WORKFLOWS / f"{module}.py", cases, ready, edit)
        for name, case in cases.items():
            if case.local:
                await anyio.Path(folder / f"{name}.{case.module}.{case.entity}.inputs.pb").write_bytes(ready[name][1])
        async with anyio.create_task_group() as group:
            group.start_soon(to_thread.run_sync, _locally, folder)
            for name, (chosen, inputs) in ready.items():
                group.start_soon(_run, engine, ExecutionId("p", "d", name), chosen, inputs, documents, home)
    return documents


async def _prepare(
    engine: Engine, file: Path, cases: Mapping[str, Case], ready: dict[str, tuple[Chosen, bytes]], edit: Edit
) -> None:
    """Package a file once for all of its cases."""
    files = edit(await read_workflows(file))
    for name, case in cases.items():
        if case.module == file.stem:
            chosen = await choose(files, case.entity, "p", "d")
            await engine.store_package(chosen.package)
            ready[name] = chosen, await to_thread.run_sync(inputs_for, chosen.target, case.inputs)


async def _run(
    engine: Engine,
    execution: ExecutionId,
    chosen: Chosen,
    inputs: bytes,
    documents: dict[str, dict[str, Any]],
    home: Path,
) -> None:
    await engine.submit(execution, chosen.entity, chosen.package.digest, inputs)
    await engine.wait(execution)
    documents[execution.name] = await Documents(engine.log, engine.blobs, home).of(execution)


def _locally(folder: Path) -> None:
    if any(folder.iterdir()):
        command = [sys.executable, str(LOCALLY), str(WORKFLOWS), str(folder)]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)


def _local(folder: Path) -> dict[str, Mapping[str, Any] | str]:
    found: dict[str, Mapping[str, Any] | str] = {}
    for path in folder.glob("*.outputs.pb"):
        found[path.name.split(".")[0]] = natural_map(path.read_bytes())
    for path in folder.glob("*.error.txt"):
        found[path.name.split(".")[0]] = path.read_text()
    return found
