"""`propwash serve --workers N`: N processes of one service; this one starts them, and again if they die."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.screen import tell
from engine.cli.session import Session, run_session
from engine.model.errors import BadInput

FIRST_SECONDS, LONGEST_SECONDS = 0.5, 30.0
"""Before a worker that has died is started again: twice as long after each death."""
STEADY_SECONDS = 60.0
"""A worker that lived this long did not die of being started."""
MOST_REFUSALS = 6
"""Starts in a row of a worker that has worked before that may be refused: what it left may still hold its home or its
port for some seconds."""
HIGHEST_PORT = 65535
LATE_SECONDS = 2.0
"""What workers get beside their own deadline before they are killed."""


def supervise(home: Path, settings: Settings, count: int, words: Sequence[str]) -> int:
    """Keep the workers at work until a signal comes. `words`: of the command line that asked for them.

    Raises BadInput where several processes can't work together, or where a worker can't be started.
    """
    if settings.kafka.bootstrap is None:
        raise BadInput(
            f"--workers {count}: one engine at a time works on the log of a home; several need kafka.bootstrap; "
            "nothing was started"
        )
    from engine.fleets import check_fleet

    check_fleet(settings)
    _check_ports(settings, count)
    commands = [_command(home, settings, count, number, words) for number in range(1, count + 1)]
    return run_session(partial(_supervise, commands, settings))


def _check_ports(settings: Settings, count: int) -> None:
    """Raises BadInput where there are not enough ports from the first one on."""
    if settings.http.listen is None:
        return
    host, _, port = settings.http.listen.rpartition(":")
    if int(port) and (last := int(port) + count - 1) > HIGHEST_PORT:
        raise BadInput(
            f"--listen {settings.http.listen}: {count} workers need the ports {port} to {last}, of which the highest "
            f"can be {HIGHEST_PORT}; expected {host}:{HIGHEST_PORT - count + 1} or below; nothing was started"
        )


def _command(home: Path, settings: Settings, count: int, number: int, words: Sequence[str]) -> list[str]:
    """The same command line for one worker: with a home, a port, a share of the CPUs and a name of its own."""
    more = ["--worker", "--home", str(home / f"worker-{number}")]
    if settings.http.listen is not None:
        host, _, port = settings.http.listen.rpartition(":")
        more += ["--listen", f"{host}:{int(port) + number - 1 if int(port) else 0}"]
    if settings.processes.max_concurrent is None:
        more += ["--set", f"processes.max_concurrent={max(settings.processes.slots // count, 1)}"]
    if settings.kafka.instance is not None:
        more += ["--set", f"kafka.instance={settings.kafka.instance}-{number}"]
    return [sys.executable, "-m", "propwash", *words, *more]


async def _supervise(commands: Sequence[Sequence[str]], settings: Settings, session: Session) -> int:
    patience = settings.shutdown.deadline_seconds + LATE_SECONDS
    session.deadline_seconds = patience + LATE_SECONDS
    tell(f"process {os.getpid()} keeps {len(commands)} workers at work until Ctrl-C or SIGTERM")
    session.stops_with(ExitCode.SUCCEEDED)
    async with anyio.create_task_group() as group:
        for number, command in enumerate(commands, 1):
            group.start_soon(_keep, number, command, patience)
    return ExitCode.SUCCEEDED


async def _keep(number: int, command: Sequence[str], patience: float) -> None:
    """One worker, for ever. Raises BadInput."""
    deaths, refusals, has_worked = 0, 0, False
    while True:
        began = anyio.current_time()
        code = await _run(command, patience)
        deaths = 1 if anyio.current_time() - began > STEADY_SECONDS else deaths + 1
        refused = code == ExitCode.BAD_INPUT
        has_worked, refusals = has_worked or not refused, refusals + 1 if refused else 0
        if refusals == (MOST_REFUSALS if has_worked else 1):
            raise BadInput(f"worker {number} can't be started; what it has said about it stands above")
        pause = min(FIRST_SECONDS * 2 ** (deaths - 1), LONGEST_SECONDS)
        tell(f"worker {number} has ended with {_how(code)}; it is started again in {pause:g} s")
        await anyio.sleep(pause)


async def _run(command: Sequence[str], patience: float) -> int:
    """One life of a worker; its exit code, negative for a signal. It stops by itself when its stdin ends: with us."""
    # A session of its own: Ctrl-C at a terminal is for this process, which asks the workers to stop in order.
    process = await anyio.open_process(command, stdin=subprocess.PIPE, stdout=None, stderr=None, start_new_session=True)
    try:
        return await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                with anyio.move_on_after(patience):
                    await process.wait()
            await process.aclose()  # kills it if it is still there


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
