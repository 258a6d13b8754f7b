"""`propwash recover` and `propwash relaunch`: a new execution after one that there has been."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct, structs

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import accepted, finish, resume_command
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say, say_soon, tell
from engine.cli.session import Session, run_session
from engine.cli.show import as_text, tell_problems
from engine.cli.verdict import Context
from engine.cli.watch import to_the_end
from engine.gateway.asking import once_more
from engine.gateway.documents import Documents
from engine.homes import HomeLook, read_home
from engine.machine.execution import ExecutionState
from engine.machine.recovery import refusal
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.state import Execution
from engine.reach import reach

if TYPE_CHECKING:
    from engine.cli.mending import Mended


class Asked(Struct, frozen=True):
    """What a person wants done once more."""

    execution: str
    """Name of the one that there has been, or project:domain:name."""
    name: str | None
    """Of the new one; None: a random one."""
    recover: bool
    """Take over what succeeded there."""
    overwrite_cache: bool = False
    wait: bool = True
    as_json: bool = False
    package: str | None = None
    """File or package with the mended workflow to go on with; None: the workflow as it was."""


def again(context: Context, asked: Asked, home: Path, config: Path | None, sets: tuple[str, ...]) -> int:
    """Raises BadInput where there is nothing to recover, or no such execution; and whatever stops the engine."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import cluster_again

        return run_session(partial(cluster_again.again, context, asked, home, settings))
    return run_session(partial(_again, context, asked, home, settings))


async def _again(context: Context, asked: Asked, home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with read_home(home, settings) as view:
        event, inputs = await _submission(view, asked, home, settings)
        execution = event.execution
        known = (await view.log.find([execution])).get(execution)
    async with reach(home, settings, idle=not asked.wait) as contact:
        await contact.submit(event, inputs)
        if known is not None and known.terminal:
            tell(f"execution {execution.name} has {known.phase.value} already: this is its result, nothing ran")
        elif not asked.as_json:
            await say_soon(f"execution {execution.name} {does(asked)} {asked.execution}")
        if not asked.wait:
            if asked.as_json:
                say(accepted(execution))
            return ExitCode.SUCCEEDED
        if contact.engine is not None:
            context.hint = f"execution {execution.name} goes on with: {resume_command(home)}"
        async with to_the_end(contact, home, settings, execution, quiet=asked.as_json) as found:
            context.hint = ""
            return await finish(found, [execution], home, as_json=asked.as_json)


def does(asked: Asked) -> str:
    return "recovers" if asked.recover else "repeats"


async def _submission(view: HomeLook, asked: Asked, home: Path, settings: Settings) -> tuple[ExecutionSubmitted, bytes]:
    record = await _source(view, asked.execution, home, recover=asked.recover)
    inputs = await view.blobs.get(record.inputs_uri) if record.inputs_uri else b""
    event = once_more(record, asked.name, recover=asked.recover, overwrite_cache=asked.overwrite_cache)
    if asked.package is not None:
        from engine.cli.mending import keep

        found = await _mended(await _state(view, record, home), asked.package, home, settings)
        await keep(found, home, settings)
        event = structs.replace(event, entity=found.entity, package=found.package.digest)
    return event, inputs


async def _state(view: HomeLook, record: Execution, home: Path) -> ExecutionState:
    """With its program. Raises BadInput where that can't be read."""
    documents = Documents(view.log, view.blobs, home)
    state = await documents.state(await documents.snapshot(record.id))
    if documents.problems:
        raise BadInput(f"execution {record.id.name} can't be recovered: {documents.problems[0]}")
    return state


async def _mended(source: ExecutionState, package: str, home: Path, settings: Settings) -> Mended:
    from engine.cli.mending import mended

    return await mended(source, package, home, settings)


async def _source(view: HomeLook, name: str, home: Path, *, recover: bool) -> Execution:
    record = await named(name, view.names, home)
    problem = refusal(record) if recover else ""
    if problem:
        raise BadInput(f"{problem}; nothing was started")
    return record


def foresee(asked: Asked, home: Path, config: Path | None, sets: tuple[str, ...]) -> int:
    """What a recovery would do with each node, and why; nothing is started. Raises BadInput as `again`."""
    settings = load_settings(config, sets)
    if settings.kafka.bootstrap is not None:
        from engine.cli import cluster_again

        return anyio.run(cluster_again.foresee, asked, home, settings)
    return anyio.run(_foresee, asked, home, settings)


async def _foresee(asked: Asked, home: Path, settings: Settings) -> int:
    from engine.cli.forecast import Forecast

    async with read_home(home, settings) as view:
        record = await _source(view, asked.execution, home, recover=True)
        documents = Documents(view.log, view.blobs, home)
        source = await documents.state(await documents.snapshot(record.id))
        mended = await _mended(source, asked.package, home, settings) if asked.package else None
        forecast = Forecast(source, view.blobs, mended.state if mended else None)
        await forecast.ask_cache()
        say(as_text(forecast.document()) if asked.as_json else forecast.text())
        return tell_problems(documents)
