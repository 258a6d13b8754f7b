"""`propwash replay`: an execution decided once more from what the log keeps of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from msgspec import Struct, structs

from config.settings import Settings
from engine.adapters.sqlite.audit import SqliteAudit
from engine.app import load_program
from engine.cli.elsewhere import refuse_on_kafka
from engine.cli.exitcodes import ExitCode
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say
from engine.cli.show import as_text
from engine.equipment import rules_of
from engine.machine.execution import ExecutionState, plans_of
from engine.machine.rerun import Difference, Rerun, Turn, describe
from engine.model.errors import BadInput, EngineError
from engine.model.events import AttemptPlanned, Event
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.model.state import Fact
from engine.ports.blobstore import BlobStore
from engine.stores import look_at_store


class Outcome(Struct, frozen=True):
    execution: str
    events: int
    facts: int
    difference: Difference | None


def replay(name: str, home: Path, config: Path | None, sets: Sequence[str], *, steps: bool, as_json: bool) -> int:
    """Raises BadInput where there is no such execution, or where its package can't be read."""
    settings = load_settings(config, sets)
    refuse_on_kafka(
        settings,
        "replay",
        "results of attempts are not kept there as events, so there is nothing to decide again; `propwash check` "
        "compares the recorded history with the states",
    )
    outcome = anyio.run(_replay, name, home, settings, steps and not as_json)
    say(as_text(structs.asdict(outcome) | {"difference": _document(outcome)}) if as_json else _text(outcome))
    return ExitCode.SUCCEEDED if outcome.difference is None else ExitCode.FAILED


async def _replay(name: str, home: Path, settings: Settings, steps: bool) -> Outcome:
    async with SqliteAudit.open(home) as log, look_at_store(home, settings) as blobs:
        execution = (await named(name, log, home)).id
        snapshot = await log.snapshot(execution)
        assert snapshot is not None
        reader = _Reader(log, blobs)
        facts = [fact async for page in log.facts(execution) for fact in page]
        program = await reader.program(snapshot.execution.package)
        source = await reader.source(snapshot.execution.recovers)
        plans: dict[str, Program] = {}
        rerun = Rerun(program, plans, source, facts, rules_of(settings), _show if steps else _nothing)
        count = 0
        async for found in reader.events(execution):
            count += len(found)
            plans |= await reader.plans(event.plan for _, event in found if isinstance(event, AttemptPlanned))
            rerun.take(found)
        return Outcome(execution.name, count, len(facts), rerun.finish(snapshot))


class _Reader:
    """What a replay needs, all as of one moment."""

    def __init__(self, log: SqliteAudit, blobs: BlobStore) -> None:
        self._log, self._blobs = log, blobs

    async def program(self, digest: str) -> Program:
        try:
            return await load_program(self._blobs, digest)
        except EngineError as problem:
            raise BadInput(f"nothing can be replayed: its package {digest} can't be read: {problem}") from problem

    async def plans(self, digests: Iterable[str]) -> dict[str, Program]:
        """Those that can be read, as an engine would."""
        found = {}
        for digest in digests:
            with suppress(EngineError):
                found[digest] = await load_program(self._blobs, digest)
        return found

    async def source(self, execution: ExecutionId | None) -> ExecutionState | None:
        """The execution that it recovers; None as well where an engine would not have found it."""
        snapshot = await self._log.snapshot(execution) if execution else None
        if snapshot is None or not snapshot.execution.terminal:
            return None
        program = await self.program(snapshot.execution.package)
        return ExecutionState.of(
            snapshot.execution, program, snapshot.nodes, await self.plans(plans_of(snapshot.nodes))
        )

    async def events(self, execution: ExecutionId) -> AsyncIterator[list[tuple[int, Event]]]:
        """Those of the execution that were processed, in order, a page of the log at a time."""
        cursor, _ = await self._log.marks()
        after = 0
        while records := await self._log.events(after, cursor):
            after = records[-1].offset
            events = [(one.offset, one.event) for one in records if isinstance(one.event, Event)]
            yield [(offset, event) for offset, event in events if event.execution == execution]


def _nothing(turn: Turn) -> None:
    """Nobody wants to see the steps."""


def _show(turn: Turn) -> None:
    key = getattr(turn.event, "key", None)
    about = f" {key.path}{'' if key.index is None else f'[{key.index}]'} attempt {key.attempt}" if key else ""
    say(f"{turn.offset:>8} {type(turn.event).__name__}{about}")
    for fact in turn.facts:
        say(f"         {fact.sequence:>6} {_moment(fact)} {describe(fact)}")


def _moment(fact: Fact) -> str:
    from engine.gateway.document import iso

    return iso(fact.at) or ""


def _document(outcome: Outcome) -> dict[str, object] | None:
    return None if outcome.difference is None else structs.asdict(outcome.difference)


def _text(outcome: Outcome) -> str:
    what = f"execution {outcome.execution}: {outcome.events} events, {outcome.facts} facts"
    found = outcome.difference
    if found is None:
        return f"{what}: today's engine decides the same"
    where = f"at event {found.offset}" if found.offset else "after the last event"
    sides = f"  recorded: {found.recorded}\n  decided:  {found.decided}"
    return f"{what}: the first difference is {where}, {found.what}:\n{sides}"
