"""`propwash retry-node`: one more attempt of a failed node of an execution that is still running."""

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
from engine.gateway.documents import Documents
from engine.homes import read_home
from engine.machine.retries import why_not
from engine.model.errors import BadInput
from engine.model.events import NodeRetryRequested
from engine.model.ids import ExecutionId
from engine.reach import send


def retry_node(
    name: str, path: str, home: Path, config: Path | None, sets: Sequence[str], *, all_elements: bool = False
) -> int:
    """Raises BadInput where the node can't be tried again; and whatever stops the engine."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import on_cluster

        return run_session(partial(on_cluster.retry_node, name, path, all_elements, home, settings))
    return run_session(partial(_retry, name, path, all_elements, home, settings))


async def _retry(name: str, path: str, all_elements: bool, home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    execution = await _asked(name, path, home, settings)
    await send(home, settings, [NodeRetryRequested(execution, path, all_elements)])
    await say_soon(f"node {path} of execution {execution.name} is tried again")
    return ExitCode.SUCCEEDED


async def _asked(name: str, path: str, home: Path, settings: Settings) -> ExecutionId:
    async with read_home(home, settings) as view:
        execution = (await named(name, view.names, home)).id
        await refuse_retry(Documents(view.log, view.blobs, home), execution, path)
    return execution


async def refuse_retry(documents: Documents, execution: ExecutionId, path: str) -> None:
    """Raises BadInput where the node can't be tried again."""
    state = await documents.state(await documents.snapshot(execution))
    if documents.problems:
        raise BadInput(f"node {path} can't be tried again: {documents.problems[0]}")
    problem = why_not(state, path)
    if problem:
        raise BadInput(problem)
