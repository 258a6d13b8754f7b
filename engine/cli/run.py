"""`propwash run`: from a file, a name and typed values to the end of an execution."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import click
from anyio import to_thread

from engine.app import Engine, Parts, running
from engine.cli.arguments import HELP, Sections, meant_options
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import finish, resume_command
from engine.cli.help import names_help, workflow_help
from engine.cli.joining import join, take
from engine.cli.request import Request, guess, resolve
from engine.cli.screen import say, tell
from engine.cli.session import Session, run_session
from engine.cli.verdict import Context
from engine.cli.views import announce, showing
from engine.cli.workflows import CONSTANTS_FOLDER, Chosen, choose, names_in, unpack_sources, with_code_root
from engine.gateway.names import random_name
from engine.homes import HomeView
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from engine.wire.inputs import inputs_for, read_inputs_file
from engine.wire.package import Package, PackageFiles
from engine.wire.packaging import ensure_there, read_workflows


def run(ctx: click.Context, sections: Sections, ours: dict[str, bool]) -> int:
    """Raises UsageError, BadInput, and whatever stops the engine."""
    ensure_there(sections.file)
    guessed = guess(ctx, sections, ours)
    if not sections.workflow:
        return run_session(partial(_list_names, ctx, sections, guessed))
    code = run_session(partial(_run, ctx, sections, ours, guessed))
    if code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED):
        tell(ctx.obj.hint or "nothing was started")
    return code


async def _list_names(ctx: click.Context, sections: Sections, guessed: Request, session: Session) -> int:
    """No workflow was named: that is an error, unless the person asked for help."""
    names = await names_in(await _read(sections, guessed))
    if HELP in sections.rest:
        say(f"{ctx.get_usage()}\n\n{names_help(sections.file, names)}")
        return ExitCode.SUCCEEDED
    tell(f"Error: which workflow? Name it after {sections.file}.\n{names_help(sections.file, names)}")
    return ExitCode.BAD_INPUT


async def _run(
    ctx: click.Context, sections: Sections, ours: dict[str, bool], guessed: Request, session: Session
) -> int:
    session.deadline_seconds = guessed.settings.shutdown.deadline_seconds
    async with AsyncExitStack() as stack:
        parts: Parts | None = None
        if guessed.home_is_certain:
            # The runner gets ready while the file is being packaged.
            parts = await take(stack, guessed, warm=True)
        files = await _read(sections, guessed)
        chosen = await _choose(files, sections, guessed)
        bools = {one.name: one.type in ("bool", "bool | None") for one in chosen.inputs}
        request = await to_thread.run_sync(resolve, ctx, sections, ours, bools)
        session.deadline_seconds = request.settings.shutdown.deadline_seconds
        if request.rest.help:
            say(workflow_help(ctx, sections, chosen))
            return ExitCode.SUCCEEDED
        inputs = await _inputs(request, chosen, ours)
        if request.place != guessed.place:
            chosen = await _choose(files, sections, request)
        if not guessed.home_is_certain:
            parts = await take(stack, request)
        await unpack_sources(files, chosen.package.code_root)
        asked = _asked(request, chosen)
        if parts is None:
            code = await join(ctx.obj, request, chosen.package, asked, inputs)
        else:
            engine = await stack.enter_async_context(running(parts))
            code = await _execute(ctx.obj, engine, request, chosen.package, asked, inputs)
        session.finished(code)
        return code


async def _read(sections: Sections, request: Request) -> PackageFiles:
    constants = request.options.home.absolute() / CONSTANTS_FOLDER
    return await read_workflows(Path(sections.file), python=request.settings.processes.interpreter, constants=constants)


async def _choose(files: PackageFiles, sections: Sections, request: Request) -> Chosen:
    placed = with_code_root(files, request.options.code_root, request.options.home)
    return await choose(placed, sections.workflow, request.project, request.domain, request.options.home)


async def _inputs(request: Request, chosen: Chosen, ours: Collection[str]) -> bytes:
    """The serialized `LiteralMap`. Raises BadInput with every problem."""
    if request.rest.problems:
        listed = "".join(f"\n  - {problem}" for problem in request.rest.problems)
        raise BadInput(f"the arguments after the workflow's name can't be used; nothing was started:{listed}")
    path, given = request.options.inputs_file, dict[str, object](request.rest.given)
    if path is not None:
        given = {**await to_thread.run_sync(read_inputs_file, path), **given}
    try:
        return await to_thread.run_sync(inputs_for, chosen.target, given)
    except BadInput as problem:
        meant = meant_options(request.rest.given, chosen.target.interface.inputs, ours)
        raise BadInput("".join([str(problem), *(f"\n{line}" for line in meant)])) from problem


def _asked(request: Request, chosen: Chosen) -> ExecutionSubmitted:
    return ExecutionSubmitted(
        ExecutionId(request.project, request.domain, request.options.name or random_name()),
        chosen.entity,
        chosen.package.digest,
        overwrite_cache=request.options.overwrite_cache,
        overrides=Overrides(architecture=request.options.architecture or ""),
    )


async def _execute(
    context: Context, engine: Engine, request: Request, package: Package, asked: ExecutionSubmitted, inputs: bytes
) -> int:
    """Submit, show, wait, report."""
    home, as_json, execution = request.options.home, request.options.as_json, asked.execution
    if others := len(engine.unfinished()):
        what = "an unfinished execution, which goes" if others == 1 else f"{others} unfinished executions, which go"
        tell(f"home {home} holds {what} on beside this one; {resume_command(home)} waits for all")
    await engine.store_package(package)
    known = (await engine.log.find([execution])).get(execution)
    await announce(execution, quiet=as_json)
    async with showing(engine, [execution], home, quiet=as_json):
        await engine.accept(asked, inputs)
        if known is not None and known.terminal:
            tell(f"execution {execution.name} has {known.phase.value} already: this is its result, nothing ran")
        context.hint = f"execution {execution.name} goes on with: {resume_command(home)}"
        await engine.wait(execution)
    context.hint = (
        f"execution {execution.name} has ended: propwash get {execution.name} --home {shlex.quote(str(home))}"
    )
    return await finish(HomeView(engine.log, engine.blobs), [execution], home, as_json=as_json)
