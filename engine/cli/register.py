"""`propwash register`: gives what a file or a package defines a version that stays."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread
from msgspec import structs

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.request import load_settings
from engine.cli.screen import say, tell
from engine.cli.session import Session, run_session
from engine.cli.shipping import ship
from engine.cli.show import as_text
from engine.cli.workflows import CODE_FOLDER, CONSTANTS_FOLDER, unpack_sources, with_code_root
from engine.model.architectures import Architecture
from engine.model.ids import EntityId, EntityKind
from engine.reach import tell_of_change
from engine.registries import open_registry
from engine.registry.activation import activate
from engine.registry.entries import Registry
from engine.registry.registering import Registered, register_package
from engine.wire.natural import Json
from engine.wire.package import PackageFiles
from engine.wire.packaging import ensure_there, read_workflows
from engine.wire.registration import register as as_package


@dataclass(frozen=True, slots=True)
class Asked:
    source: Path
    project: str | None
    domain: str | None
    version: str
    architecture: str | None
    code_root: Path | None
    home: Path


def register(asked: Asked, config: Path | None, sets: Sequence[str], *, as_json: bool) -> int:
    """Raises BadInput, BadPackage, and whatever stops a store."""
    return run_session(partial(_register, asked, load_settings(config, sets), as_json))


async def _register(asked: Asked, settings: Settings, as_json: bool, session: Session) -> int:
    files = await _read(asked, settings)
    architecture = Architecture(asked.architecture) if asked.architecture else None
    project, domain = asked.project or settings.execution.project, asked.domain or settings.execution.domain
    package = await to_thread.run_sync(
        lambda: as_package(files, project=project, domain=domain, version=asked.version, architecture=architecture)
    )
    async with open_registry(asked.home, settings) as registry:
        if not files.module:
            await unpack_sources(structs.replace(files, code_root=""), package.code_root)
        await ship(registry.blobs, Path(package.code_root), asked.home.absolute() / CODE_FOLDER)
        done = await register_package(registry, package, files.where, files.code_archive, time.time())
        active = await _activate(registry, done, files.activate)
    if active:
        await tell_of_change(asked.home)
    say(as_text(_document(done, active)) if as_json else _text(done, active))
    for id, plan in done.program.launch_plans.items():
        for notice in plan.notices if id in done.fresh else ():
            tell(f"{id}: {notice}")
    return ExitCode.SUCCEEDED


async def _read(asked: Asked, settings: Settings) -> PackageFiles:
    """What the source defines, and where its tasks' modules are: a copy in the home, unless a folder was named."""
    home = asked.home.absolute()
    await to_thread.run_sync(ensure_there, str(asked.source))
    files = await read_workflows(
        asked.source,
        python=settings.processes.interpreter,
        constants=home / CONSTANTS_FOLDER,
        sources=None if asked.code_root else home / CODE_FOLDER,
    )
    if files.module and asked.code_root:
        return structs.replace(files, code_root=str(asked.code_root.absolute()))
    return with_code_root(files, asked.code_root, asked.home)


async def _activate(registry: Registry, done: Registered, names: Sequence[str]) -> list[EntityId]:
    ids = [id for id in done.fresh if id.kind is EntityKind.LAUNCH_PLAN and id.name in names]
    entries = await registry.find(ids)
    return [(await activate(registry, entries[id], time.time())).id for id in ids]


def _text(done: Registered, active: Sequence[EntityId]) -> str:
    package = done.package
    place = f"{package.project}:{package.domain}, version {package.version}"
    if not done.fresh:
        return f"nothing is new: all of it is registered in {place} already"
    counts = Counter(id.kind.value.replace("_", " ") for id in done.fresh)
    what = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(counts.items()))
    known = f" ({len(done.known)} more already were)" if done.known else ""
    lines = [f"registered {what} in {place}{known}", *(f"  {id}" for id in done.fresh)]
    return "\n".join([*lines, *(f"{id} is active" for id in active)])


def _document(done: Registered, active: Sequence[EntityId]) -> dict[str, Json]:
    def listed(ids: Sequence[EntityId]) -> list[Json]:
        return [{"kind": id.kind.value.replace("_", "-"), "name": id.name} for id in ids]

    package = done.package
    return {
        "project": package.project,
        "domain": package.domain,
        "version": package.version,
        "package": done.program.digest,
        "registered": listed(done.fresh),
        "known": listed(done.known),
        "active": [id.name for id in active],
    }
