"""`propwash signal`: answers the gates of an execution that wait for a value or an approval, or will."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say_soon
from engine.cli.session import Session, run_session
from engine.gateway.asking import Approval, signal_literal
from engine.gateway.documents import Documents
from engine.homes import read_home
from engine.model.ids import ExecutionId
from engine.reach import reach


def signal(
    name: str,
    signal_id: str,
    value: str | Approval,
    home: Path,
    config: Path | None,
    sets: Sequence[str],
) -> int:
    """`value`: text that a person typed, or an approval.

    Raises BadInput where nothing in the execution can take it; and whatever stops the engine.
    """
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import on_cluster

        return run_session(partial(on_cluster.signal, name, signal_id, value, home, settings))
    return run_session(partial(_signal, name, signal_id, value, home, settings))


async def _signal(
    name: str, signal_id: str, value: str | Approval, home: Path, settings: Settings, session: Session
) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    execution, literal = await _asked(name, signal_id, value, home, settings)
    async with reach(home, settings, idle=True) as contact:
        await contact.signal(execution, signal_id, literal)
    await say_soon(f"signal {signal_id!r} of execution {execution.name} is set")
    return ExitCode.SUCCEEDED


async def _asked(
    name: str, signal_id: str, value: str | Approval, home: Path, settings: Settings
) -> tuple[ExecutionId, bytes]:
    async with read_home(home, settings) as view:
        execution = (await named(name, view.names, home)).id
        documents = Documents(view.log, view.blobs, home)
        state = await documents.state(await documents.snapshot(execution))
    return execution, signal_literal(state, signal_id, value)
