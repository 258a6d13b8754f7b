"""`propwash submit`: starts what is registered, by whichever engine works on the home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import accepted, finish, resume_command
from engine.cli.request import load_settings
from engine.cli.screen import say, tell
from engine.cli.session import Session, run_session
from engine.cli.verdict import Context
from engine.cli.views import announce
from engine.cli.watch import to_the_end
from engine.gateway.asking import Wish, submission
from engine.gateway.names import random_name
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from engine.reach import reach
from engine.registries import open_registry, read_registry
from engine.wire.inputs import read_inputs_file
from handlers.registry import default_handlers


@dataclass(frozen=True, slots=True)
class Asked:
    entity: str
    """NAME or NAME:VERSION."""
    name: str | None
    """Of the execution."""
    project: str | None
    domain: str | None
    inputs: dict[str, str]
    """By name, as they were typed."""
    inputs_file: Path | None
    overrides: Overrides
    overwrite_cache: bool
    home: Path


def submit(
    context: Context, asked: Asked, config: Path | None, sets: Sequence[str], *, wait: bool, as_json: bool
) -> int:
    """Raises BadInput, BadPackage, and whatever stops the engine."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is None:
        perform = _submit
    else:
        from engine.cli.on_cluster import submit as perform
    code = run_session(partial(perform, context, asked, settings, wait, as_json))
    if code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED):
        tell(context.hint or "nothing was started")
    return code


async def _submit(
    context: Context, asked: Asked, settings: Settings, wait: bool, as_json: bool, session: Session
) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    project, domain = asked.project or settings.execution.project, asked.domain or settings.execution.domain
    execution = ExecutionId(project, domain, asked.name or random_name())
    wish = Wish(asked.entity, execution, await inputs_of(asked), asked.overrides, asked.overwrite_cache)
    async with read_registry(asked.home, settings) as reading, open_registry(asked.home, settings) as writing:
        event, inputs = await submission(reading, writing, wish, default_handlers(), "--input ")
    async with reach(asked.home, settings, idle=not wait) as contact:
        await contact.submit(event, inputs)
        if not wait:
            say(accepted(execution) if as_json else execution.name)
            return ExitCode.SUCCEEDED
        goes_on = "goes on with: " + resume_command(asked.home) if contact.engine else "goes on where it is"
        context.hint = f"execution {execution.name} {goes_on}"
        await announce(execution, quiet=as_json)
        async with to_the_end(contact, asked.home, settings, execution, quiet=as_json) as view:
            return await finish(view, [execution], asked.home, as_json=as_json)


async def inputs_of(asked: Asked) -> dict[str, object]:
    """By name: of the file JSON values, of the arguments text. Raises BadInput."""
    if asked.inputs_file is None:
        return dict(asked.inputs)
    return {**await to_thread.run_sync(read_inputs_file, asked.inputs_file), **asked.inputs}
