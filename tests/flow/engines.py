"""A whole engine on memory adapters: real loop, handlers and data plane; scripted attempts; a clock that jumps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import LoopClock
from engine.adapters.memory.log import MemoryLog
from engine.adapters.memory.runner import NoopRunner, Script
from engine.adapters.memory.scripts import copies
from engine.app import Engine, Parts, load_program, running
from engine.loop.backoff import Backoff
from engine.loop.hooks import Hook, nothing
from engine.loop.meter import Meter
from engine.loop.watchers import Watchers
from engine.machine import arrays
from engine.machine.execution import ExecutionState, plans_of
from engine.machine.invariants import of_frames, of_snapshot
from engine.machine.replay import Problem, Replay
from engine.model import layout
from engine.model.graph import Program
from engine.model.ids import EntityId, ExecutionId
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.model.placement import NO_RULES
from engine.model.state import Execution, Fact, Node
from engine.ports.cache import Cache
from engine.ports.vetting import Vetting
from engine.ports.waits import Tells
from engine.wire.compile import compile_package
from engine.wire.package import Package, pack

EXECUTION = ExecutionId("p", "d", "e1")


class World:
    """Log and store survive a crash; engines come and go over them."""

    def __init__(self, program: Program, script: Script | None = None, offload: OffloadLimits | None = None) -> None:
        self.program = program
        self.log = MemoryLog()
        self.blobs = MemoryBlobs()
        self.runner = NoopRunner(script or copies(self.blobs))
        self.offload = offload or OffloadLimits()
        self.executions = ExecutionLimits()
        self.hook: Hook = nothing
        self.cache: Cache | None = None
        self.meter: Meter | None = None
        self.placement = NO_RULES
        self.vetting: Sequence[Vetting] = ()
        self.tells: Sequence[Tells] = ()
        self.loads: list[str] = []
        """Digests of the plans that engines have loaded."""

    @asynccontextmanager
    async def engine(self, watchers: Watchers | None = None, *, idle: bool = False) -> AsyncIterator[Engine]:
        parts = Parts(
            log=self.log,
            blobs=self.meter.store(self.blobs) if self.meter else self.blobs,
            runner=self.runner,
            clock=LoopClock(),
            offload=self.offload,
            retries=RetryLimits(),
            arrays=ArrayLimits(),
            executions=self.executions,
            backoff=Backoff(),
            load=self._load,
            placement=self.placement,
            vetting=self.vetting,
            cache=self.cache,
            tells=self.tells,
            hook=self.hook,
            meter=self.meter,
        )
        async with running(parts, watchers, idle=idle) as engine:
            yield engine

    @classmethod
    def of(cls, package: Package, offload: OffloadLimits | None = None) -> World:
        """With the package in the store, so that the plans of @dynamic tasks can refer to it."""
        compiled = compile_package(package)
        assert compiled.problems == ()
        world = cls(compiled.program, offload=offload)
        world.blobs.objects[world.blobs.uri(layout.package(package.digest))] = pack(package)
        return world

    async def _load(self, digest: str) -> Program:
        if digest == self.program.digest:
            return self.program
        self.loads.append(digest)
        return await load_program(self.blobs, digest)

    def crash(self) -> None:
        """What was not committed is gone; the next engine starts from the rest."""
        self.log = self.log.crash()

    async def run(
        self,
        entity: EntityId | None = None,
        inputs: bytes = b"",
        *,
        execution: ExecutionId = EXECUTION,
        overwrite_cache: bool = False,
    ) -> Execution:
        async with self.engine() as engine:
            target = entity or self.first
            await engine.submit(execution, target, self.program.digest, inputs, overwrite_cache=overwrite_cache)
            return await engine.wait(execution)

    @property
    def first(self) -> EntityId:
        return next(iter(self.program.workflows))

    async def nodes(self, execution: ExecutionId = EXECUTION) -> dict[str, Node]:
        snapshot = await self.log.snapshot(execution)
        assert snapshot is not None
        return {node.path: node for node in snapshot.nodes}

    async def phases(self, execution: ExecutionId = EXECUTION) -> dict[str, str]:
        return {
            path: node.phase.name
            for path, node in sorted((await self.nodes(execution)).items())
            if not path.endswith(("start-node", "end-node"))
        }

    async def element_phases(self, path: str, execution: ExecutionId = EXECUTION) -> list[str]:
        elements = (await self.nodes(execution))[path].elements
        assert elements is not None
        return [arrays.phase_of(elements, k).name for k in range(elements.size)]

    async def child(self, path: str) -> Execution:
        """The child execution that a launch plan node started."""
        executions = await self.log.executions()
        (found,) = [record for record in executions if record.parent is not None and record.parent.path == path]
        return found

    async def facts(self, execution: ExecutionId = EXECUTION) -> Sequence[Fact]:
        return await self.log.history(execution)

    async def problems(self) -> list[Problem]:
        """What the checker's rules find wrong with what is committed."""
        found: list[Problem] = []
        for record in await self.log.executions():
            snapshot = await self.log.snapshot(record.id)
            assert snapshot is not None
            replay = Replay()
            replay.take(await self.log.history(record.id))
            plans = {digest: await load_program(self.blobs, digest) for digest in plans_of(snapshot.nodes)}
            own = record.package != self.program.digest
            program = await load_program(self.blobs, record.package) if own else self.program
            state = ExecutionState.of(snapshot.execution, program, snapshot.nodes, plans)
            found += [*replay.against(snapshot), *of_snapshot(snapshot), *of_frames(state)]
        return found
