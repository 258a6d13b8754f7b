"""`propwash recover` and `propwash relaunch`: a new execution after one that there has been."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import accepted, finish, resume_command
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say, say_soon
from engine.cli.session import Session, run_session
from engine.cli.show import as_text, tell_problems
from engine.cli.verdict import Context
from engine.cli.watch import to_the_end
from engine.gateway.asking import once_more
from engine.gateway.documents import Documents
from engine.homes import HomeLook, read_home
from engine.machine.recovery import refusal
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.state import Execution
from engine.reach import reach


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


def again(context: Context, asked: Asked, home: Path, config: Path | None, sets: tuple[str, ...]) -> int:
    """Raises BadInput where there is nothing to recover, or no such execution; and whatever stops the engine."""
    return run_session(partial(_again, context, asked, home, load_settings(config, sets)))


async def _again(context: Context, asked: Asked, home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with read_home(home, settings) as view:
        event, inputs = await _submission(view, asked, home)
    execution = event.execution
    async with reach(home, settings, idle=not asked.wait) as contact:
        await contact.submit(event, inputs)
        if not asked.as_json:
            await say_soon(f"execution {execution.name} {_does(asked)} {asked.execution}")
        if not asked.wait:
            if asked.as_json:
                say(accepted(execution))
            return ExitCode.SUCCEEDED
        if contact.engine is not None:
            context.hint = f"execution {execution.name} goes on with: {resume_command(home)}"
        async with to_the_end(contact, home, settings, execution, quiet=asked.as_json) as found:
            context.hint = ""
            return await finish(found, [execution], home, as_json=asked.as_json)


def _does(asked: Asked) -> str:
    return "recovers" if asked.recover else "repeats"


async def _submission(view: HomeLook, asked: Asked, home: Path) -> tuple[ExecutionSubmitted, bytes]:
    record = await _source(view, asked.execution, home, recover=asked.recover)
    inputs = await view.blobs.get(record.inputs_uri) if record.inputs_uri else b""
    event = once_more(record, asked.name, recover=asked.recover, overwrite_cache=asked.overwrite_cache)
    return event, inputs


async def _source(view: HomeLook, name: str, home: Path, *, recover: bool) -> Execution:
    record = await named(name, view.names, home)
    problem = refusal(record) if recover else ""
    if problem:
        raise BadInput(f"{problem}; nothing was started")
    return record


def foresee(name: str, home: Path, *, as_json: bool) -> int:
    """What a recovery would do with each node, and why; nothing is started. Raises BadInput as `again`."""
    return anyio.run(_foresee, name, home, as_json)


async def _foresee(name: str, home: Path, as_json: bool) -> int:
    from engine.cli.forecast import Forecast

    async with read_home(home) as view:
        record = await _source(view, name, home, recover=True)
        documents = Documents(view.log, view.blobs, home)
        forecast = Forecast(await documents.state(await documents.snapshot(record.id)), view.blobs)
        await forecast.ask_cache()
        say(as_text(forecast.document()) if as_json else forecast.text())
        return tell_problems(documents)
