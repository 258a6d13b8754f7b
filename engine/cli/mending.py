"""`propwash recover --package FILE`: the mended workflow that an execution goes on with, if it still fits."""

from __future__ import annotations

import os
from pathlib import Path

from anyio import to_thread
from msgspec import Struct, structs

from config.settings import Settings
from engine.cli.workflows import CONSTANTS_FOLDER, choose, unpack_sources, with_code_root
from engine.machine.execution import ExecutionState
from engine.machine.refit import misfits
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.graph import LaunchPlanSpec
from engine.model.ids import EntityId
from engine.registries import open_registry
from engine.wire.compile import compile_package
from engine.wire.package import Package, PackageFiles, pack
from engine.wire.packaging import ensure_there, read_workflows


class Mended(Struct, frozen=True):
    entity: EntityId
    package: Package
    files: PackageFiles
    state: ExecutionState
    """The execution as it would begin."""


async def mended(source: ExecutionState, file: str, home: Path, settings: Settings) -> Mended:
    """The workflow or launch plan of the same name, in a file or package. Nothing is kept of it yet.

    Raises BadPackage; BadInput where it is not there, and where what has succeeded does not fit.
    """
    record = source.record
    await to_thread.run_sync(ensure_there, file)
    constants = await to_thread.run_sync(os.path.abspath, home / CONSTANTS_FOLDER)
    files = await read_workflows(Path(file), python=settings.processes.interpreter, constants=Path(constants))
    placed = with_code_root(files, None, home)
    place = record.entity.name, record.id.project, record.id.domain, home
    chosen = await choose(placed, *place)
    if chosen.package.digest == record.package:
        # Bodies of tasks are no part of a package: only they were mended, and a @dynamic task must plan anew.
        chosen = await choose(placed, *place, version=f"{chosen.package.version}.mended")
    if chosen.entity.name != record.entity.name:
        raise BadInput(
            f"execution {record.id.name} is one of {record.entity.name}, which is not in {file}; nothing was started"
        )
    workflow = chosen.target.workflow if isinstance(chosen.target, LaunchPlanSpec) else chosen.entity
    program = (await to_thread.run_sync(compile_package, chosen.package)).program
    begun = structs.replace(record, entity=chosen.entity, workflow=workflow, package=chosen.package.digest)
    state = ExecutionState.of(begun, program, source=source)
    _refuse_misfits(source, state, file)
    return Mended(chosen.entity, chosen.package, files, state)


def _refuse_misfits(source: ExecutionState, state: ExecutionState, file: str) -> None:
    found = list(misfits(source, state))
    if found:
        listed = "".join(f"\n  - {line}" for line in found)
        raise BadInput(
            f"execution {source.record.id.name} can't go on with the workflow of {file}; nothing was started:{listed}\n"
            f"What has succeeded must be in it unchanged; `propwash run {file}` begins anew"
        )


async def keep(found: Mended, home: Path, settings: Settings) -> None:
    """Put the package into the store, and its sources into the home. Raises BadInput, StoreFailed."""
    await unpack_sources(found.files, found.package.code_root)
    async with open_registry(home, settings) as registry:
        uri = registry.blobs.uri(layout.package(found.package.digest))
        await registry.blobs.put(uri, pack(found.package), durable=True)
