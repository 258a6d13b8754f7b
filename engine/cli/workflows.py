"""What FILE_OR_PACKAGE holds, and the one workflow or launch plan of it that was asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from anyio import to_thread
from msgspec import structs

from engine.model.errors import BadInput
from engine.model.graph import Graph, LaunchPlanSpec
from engine.model.ids import EntityId
from engine.registries import read_registry
from engine.registry.linking import link
from engine.wire.code_archive import unpack_code
from engine.wire.compile import compile_package
from engine.wire.inputs import InputHelp, describe_inputs
from engine.wire.links import missing
from engine.wire.lookup import ensure_runnable, find_entity
from engine.wire.package import Package, PackageFiles
from engine.wire.registration import register
from handlers.registry import default_handlers

CODE_FOLDER = "code"
"""In the home: the sources of packages that bring them along."""
CONSTANTS_FOLDER = "constants"
"""In the home: default values of a file's workflows that no message can hold, made only when there are such."""


@dataclass(frozen=True, slots=True)
class Chosen:
    package: Package
    entity: EntityId
    target: LaunchPlanSpec | Graph
    inputs: tuple[InputHelp, ...]


async def choose(files: PackageFiles, name: str, project: str, domain: str, home: Path, *, version: str = "") -> Chosen:
    """Register and compile a package, and find the entity by name. Raises BadInput, BadPackage.

    What it refers to elsewhere is taken from the registry of the home, as far as that has it.
    """
    package, entity, refers = await to_thread.run_sync(_found, files, name, project, domain, version)
    if refers:
        async with read_registry(home) as registry:
            package = await link(registry, package, files.where, strict=False)
    return await to_thread.run_sync(_chosen, package, entity, files.where)


def _found(files: PackageFiles, name: str, project: str, domain: str, version: str) -> tuple[Package, EntityId, bool]:
    package = register(files, project=project, domain=domain, version=version)
    return package, find_entity(compile_package(package).program, name, files.module), bool(missing(package))


def _chosen(package: Package, entity: EntityId, where: str) -> Chosen:
    compiled = compile_package(package)
    ensure_runnable(compiled, entity, default_handlers(), where)
    plans, workflows = compiled.program.launch_plans, compiled.program.workflows
    target = plans[entity] if entity in plans else workflows[entity]
    return Chosen(package, entity, target, tuple(describe_inputs(target)))


async def names_in(files: PackageFiles) -> list[str]:
    """The workflows and launch plans of a package, by their full names. Raises BadPackage."""

    def find() -> list[str]:
        program = compile_package(register(files, project="p", domain="d")).program
        return sorted({id.name for id in [*program.workflows, *program.launch_plans]})

    return await to_thread.run_sync(find)


def with_code_root(files: PackageFiles, code_root: Path | None, home: Path) -> PackageFiles:
    """Say where the tasks' modules are: where the file was found, else as told, else in the package, else here."""
    if files.module and code_root is not None:
        raise BadInput(f"--code-root is for packages: the modules of {files.where} are in {files.code_root}")
    if files.code_root:
        return files
    if code_root is None and files.code_archive:
        return structs.replace(files, code_root=str(_unpacked(files, home)))
    return structs.replace(files, code_root=os.path.abspath(code_root or "."))


async def unpack_sources(files: PackageFiles, code_root: str) -> None:
    """Put the sources that a package brings along where `with_code_root` said. Raises BadPackage."""
    folder = Path(code_root)
    if not files.code_root and files.code_archive and folder.name == _stem(files):
        await to_thread.run_sync(unpack_code, Path(files.where), files.code_archive, folder.parent)


def _unpacked(files: PackageFiles, home: Path) -> Path:
    return home.absolute() / CODE_FOLDER / _stem(files)


def _stem(files: PackageFiles) -> str:
    return PurePosixPath(files.code_archive).name.removesuffix(".tar.gz")
