"""`propwash abort`: asks an execution to stop, and waits until nothing of it runs any more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import finish
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say_soon
from engine.cli.session import Session, run_session
from engine.cli.watch import to_the_end
from engine.gateway.asking import refuse_abort
from engine.homes import read_home
from engine.model.events import AbortRequested
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from engine.reach import reach


def abort(name: str, reason: str, home: Path, config: Path | None, sets: Sequence[str], *, wait: bool) -> int:
    """Raises BadInput where no such execution is, or where it has ended otherwise; and whatever stops the engine."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import on_cluster

        return run_session(partial(on_cluster.abort, name, reason, home, settings, wait))
    return run_session(partial(_abort, name, reason, home, settings, wait))


async def _abort(name: str, reason: str, home: Path, settings: Settings, wait: bool, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    record = await _asked(name, home, settings)
    if record.phase is ExecutionPhase.ABORTED:
        await say_soon(f"execution {record.id.name} was ABORTED already")
        return ExitCode.SUCCEEDED
    async with reach(home, settings, idle=not wait) as contact:
        await contact.send([AbortRequested(record.id, reason)])
        if not wait:
            await say_soon(f"execution {record.id.name} is told to stop")
            return ExitCode.SUCCEEDED
        async with to_the_end(contact, home, settings, record.id, quiet=True) as view:
            await finish(view, [record.id], home, as_json=False)
            ended = (await view.log.find([record.id]))[record.id]
    return ExitCode.SUCCEEDED if ended.phase is ExecutionPhase.ABORTED else ExitCode.FAILED


async def _asked(name: str, home: Path, settings: Settings) -> Execution:
    async with read_home(home, settings) as view:
        record = await named(name, view.names, home)
    refuse_abort(record)
    return record
