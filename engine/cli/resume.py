"""`propwash resume`: finishes what an earlier engine left unfinished in a home."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from config.settings import Settings
from engine.app import Engine
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import finish, resume_command
from engine.cli.naming import some
from engine.cli.request import load_settings
from engine.cli.screen import say_soon, tell
from engine.cli.session import Session, run_session
from engine.cli.verdict import Context
from engine.cli.views import showing
from engine.homes import HomeView, open_home, read_home
from engine.loop.watchers import Watchers
from engine.model.ids import ExecutionId
from engine.model.phases import EXECUTION_TERMINAL, ExecutionPhase
from engine.model.state import Execution, Fact
from engine.ports.eventlog import Selection

_UNFINISHED = tuple(phase.value for phase in ExecutionPhase if phase not in EXECUTION_TERMINAL)


def resume(context: Context, home: Path, config: Path | None, sets: Sequence[str], *, as_json: bool) -> int:
    """Raises BadInput where no home is, and whatever stops the engine."""
    code = run_session(partial(_resume, context, home, load_settings(config, sets), as_json))
    if code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED) and context.hint:
        tell(context.hint)
    return code


async def _resume(context: Context, home: Path, settings: Settings, as_json: bool, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with read_home(home, settings):
        """There must be one: `open_home` would make it."""
    taken_up: dict[ExecutionId, None] = {}

    def remember(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        taken_up.update((record.id, None) for record in executions)

    watchers = Watchers()
    async with AsyncExitStack() as stack:
        with watchers.watching(remember):
            # What ends while the log is taken up is not unfinished any more, but was found unfinished.
            engine = await stack.enter_async_context(open_home(home, settings, watchers=watchers))
        taken_up.update((execution, None) for execution in engine.unfinished())
        context.hint = f"what is unfinished goes on with: {resume_command(home)}"
        left = await _not_taken_up(engine)
        if not taken_up and not left and not as_json:
            await say_soon(f"nothing to resume in {home}")
            return ExitCode.SUCCEEDED
        code = await _wait(engine, list(taken_up), home, as_json)
        for execution in left:
            tell(f"Error: execution {execution.name} can't be resumed: see the lines above")
            code = ExitCode.FAILED
        session.finished(code)
        return code


async def _not_taken_up(engine: Engine) -> list[ExecutionId]:
    """Unfinished executions that the engine had to leave as they are."""
    records = await engine.log.select(Selection(phases=_UNFINISHED))
    left = [record.id for record in reversed(records) if engine.residents.get(record.id) is None]
    # One that has ended since the first look is fine.
    now = await engine.log.find(left) if left else {}
    return [execution for execution in left if not now[execution].terminal]


async def _wait(engine: Engine, executions: Sequence[ExecutionId], home: Path, as_json: bool) -> int:
    if executions and not as_json:
        await say_soon(f"resuming {some([execution.name for execution in executions])}")
    async with showing(engine, executions, home, quiet=as_json):
        for execution in executions:
            await engine.wait(execution)
    return await finish(HomeView(engine.log, engine.blobs), executions, home, as_json=as_json, many=True)
