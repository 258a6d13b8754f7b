"""What a turn or a restore needs beside events: programs, plans of @dynamic tasks, executions that are recovered."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

from engine.loop.atonce import all_of
from engine.loop.backoff import Backoff
from engine.loop.requests import Requests
from engine.loop.residents import Residents
from engine.machine.execution import ExecutionState, plans_of
from engine.model.errors import EngineError, LogFailed, StoreFailed
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.model.state import Node
from engine.ports.eventlog import EventLog

log = logging.getLogger(__name__)


class Supplies:
    """Whatever can't be read is None, and warned of. Raises LogFailed and StoreFailed."""

    def __init__(self, event_log: EventLog, residents: Residents, requests: Requests, backoff: Backoff) -> None:
        self._log, self.residents, self.requests, self._backoff = event_log, residents, requests, backoff

    async def program(self, digest: str) -> Program | None:
        """From now on in memory, for as long as something uses it."""
        try:
            return await self._backoff.persist(partial(self.residents.program, digest), digest)
        except (LogFailed, StoreFailed):
            raise
        except EngineError as problem:
            log.warning("package can't be used", extra={"package": digest, "cause": str(problem)})
            return None

    async def programs(self, digests: Iterable[str]) -> None:
        """Several at once, as far as they are not in memory."""
        missing = [digest for digest in dict.fromkeys(digests) if self.residents.known_program(digest) is None]
        await all_of([partial(self.program, digest) for digest in missing])

    async def plans(self, nodes: Iterable[Node]) -> dict[str, Program | None]:
        """By digest, what the nodes name."""
        return {digest: await self.program(digest) for digest in plans_of(nodes)}

    async def source(self, execution: ExecutionId) -> ExecutionState | None:
        """An execution that has ended, for another one to take over from, with those of its plans that can be read."""
        snapshot = await self._log.snapshot(execution)
        if snapshot is None or not snapshot.execution.terminal:
            log.warning("execution is not there or has not ended: not recovered", extra={"execution": str(execution)})
            return None
        program = await self.program(snapshot.execution.package)
        if program is None:
            return None
        plans = {digest: plan for digest, plan in (await self.plans(snapshot.nodes)).items() if plan is not None}
        return ExecutionState.of(snapshot.execution, program, snapshot.nodes, plans)
