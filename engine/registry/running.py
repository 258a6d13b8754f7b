"""From an entry of the registry to what an engine can be asked to run."""

from __future__ import annotations

from collections.abc import Collection

from anyio import to_thread

from engine.model import layout
from engine.model.graph import NodeKind
from engine.model.ids import EntityId, EntityKind
from engine.model.runnable import Runnable
from engine.registry.entries import Entry, Registry
from engine.wire.compile import compile_package
from engine.wire.lookup import ensure_runnable
from engine.wire.package import Package, pack
from engine.wire.single_task import single_task_package


async def runnable(registry: Registry, entry: Entry, kinds: Collection[NodeKind]) -> Runnable:
    """A registered launch plan or workflow; of a task, the workflow of one node that runs it.

    `kinds`: the nodes that there is a handler for. Raises BadPackage for what can't be run.
    """
    id, package = entry.id, await registry.package(entry.package)
    if id.kind is EntityKind.TASK:
        package, id = single_task_package(*await registry.entity(entry))
        uri = registry.blobs.uri(layout.package(package.digest))
        await registry.blobs.put(uri, pack(package), durable=True)
    return await to_thread.run_sync(_compiled, package, id, kinds)


def _compiled(package: Package, id: EntityId, kinds: Collection[NodeKind]) -> Runnable:
    compiled = compile_package(package)
    ensure_runnable(compiled, id, kinds, f"version {id.version}")
    plans, workflows = compiled.program.launch_plans, compiled.program.workflows
    return Runnable(id, compiled.program.digest, plans[id] if id in plans else workflows[id])
