"""`propwash dead-letters`: what could not be processed, in a home or on Kafka; after a fix it is appended again."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from anyio import to_thread
from msgspec import to_builtins

from config.settings import Settings
from engine.adapters.sqlite.log import SqliteLog
from engine.brokers import clients_of
from engine.cli.exitcodes import ExitCode
from engine.cli.report import columns
from engine.cli.request import load_settings
from engine.cli.screen import say, say_bytes
from engine.cli.session import Session, run_session
from engine.cli.show import as_text
from engine.cli.wording import plain
from engine.model.errors import BadInput
from engine.ports.letters import Letter
from engine.reach import reach
from engine.wire import codec
from engine.wire.natural import Json

SHOWN = 100
"""Characters of a reason in the list."""
MOST_NAMED = 20
"""Of the letters that there are, where one is asked for that is not."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where dead letters lie."""

    letters: Sequence[Letter]
    replay: Callable[[Letter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Where:
    home: Path
    config: Path | None
    sets: Sequence[str]

    def settings(self) -> Settings:
        return load_settings(self.config, self.sets)


def list_letters(where: Where, *, everything: bool, as_json: bool) -> int:
    """`everything`: those that were replayed, too. Raises BadInput, LogFailed."""
    return run_session(partial(_list, where, everything, as_json))


def show_letter(where: Where, id: str, *, raw: bool, as_json: bool) -> int:
    """`raw`: the bytes as they came, and nothing else. Raises BadInput, LogFailed."""
    return run_session(partial(_show, where, id, raw, as_json))


def replay_letters(where: Where, ids: Sequence[str], *, everything: bool) -> int:
    """`everything`: all that were not replayed. Raises BadInput, LogFailed."""
    return run_session(partial(_replay, where, ids, everything))


async def _list(where: Where, everything: bool, as_json: bool, session: Session) -> int:
    async with _open(where) as box:
        found = [letter for letter in box.letters if everything or not letter.replayed]
    if as_json:
        say(as_text([_document(letter) for letter in found]))
    elif found:
        say(columns([("ID", "AT", "EXECUTION", "REASON"), *map(_row, found)]))
    return ExitCode.SUCCEEDED


async def _show(where: Where, id: str, raw: bool, as_json: bool, session: Session) -> int:
    async with _open(where) as box:
        letter = _chosen(box, id)
    if raw:
        say_bytes(letter.letter.raw)
    elif as_json:
        say(as_text(_document(letter)))
    else:
        say("\n".join(_lines(letter)))
    return ExitCode.SUCCEEDED


async def _replay(where: Where, ids: Sequence[str], everything: bool, session: Session) -> int:
    session.deadline_seconds = where.settings().shutdown.deadline_seconds
    async with _open(where) as box:
        chosen = [letter for letter in box.letters if not letter.replayed] if everything else []
        chosen += [_chosen(box, id) for id in ids]
        for letter in chosen:
            if letter.replayed:
                say(f"dead letter {letter.id} was replayed already; nothing was appended")
            else:
                await box.replay(letter)
                say(f"dead letter {letter.id} is appended to the events again")
    return ExitCode.SUCCEEDED


@asynccontextmanager
async def _open(where: Where) -> AsyncIterator[Box]:
    settings = where.settings()
    if settings.kafka.bootstrap is None:
        async with SqliteLog.open_readonly(where.home) as log:
            letters = await log.numbered_letters()
        yield Box(letters, partial(_replay_at_home, where.home, settings))
        return
    from engine.adapters.kafka.letters import Letters

    topics = await Letters.open(await to_thread.run_sync(clients_of, settings.kafka))
    yield Box(await topics.all(), topics.replay)


async def _replay_at_home(home: Path, settings: Settings, letter: Letter) -> None:
    async with reach(home, settings, idle=True) as contact:
        await contact.replay(letter.id)


def _chosen(box: Box, id: str) -> Letter:
    for letter in box.letters:
        if letter.id == id:
            return letter
    there = ", ".join(letter.id for letter in box.letters[-MOST_NAMED:]) or "none"
    more = f"{len(box.letters)} are there, the last {MOST_NAMED}" if len(box.letters) > MOST_NAMED else "there are"
    raise BadInput(f"there is no dead letter {id!r}; {more}: {there}")


def _row(letter: Letter) -> tuple[str, ...]:
    reason = plain(" ".join(letter.letter.reason.split()))
    cut = reason if len(reason) <= SHOWN else f"{reason[: SHOWN - 1]}…"
    execution = letter.letter.execution
    return letter.id, _moment(letter) or "", plain(str(execution)) if execution else "", cut


def _lines(letter: Letter) -> list[str]:
    found = letter.letter
    lines = [f"dead letter {letter.id}{', replayed' if letter.replayed else ''}"]
    lines += [f"at: {_moment(letter)}"] if letter.at else []
    lines += [f"execution: {plain(str(found.execution))}"] if found.execution else []
    lines += [f"event {found.offset} of partition {letter.partition}"] if letter.partition is not None else []
    lines += [f"reason: {plain(found.reason)}"]
    lines += [f"header {plain(name)}: {plain(repr(value)[2:-1])}" for name, value in found.headers]
    event = _event(letter)
    if event is not None:
        lines.append(f"event: {json.dumps(event, indent=2, default=repr)}")
    return [*lines, f"{len(found.raw)} bytes: {repr(found.raw)[2:-1]}"]


def _document(letter: Letter) -> dict[str, Json]:
    found, execution = letter.letter, letter.letter.execution
    named: Json = None
    if execution is not None:
        named = {"project": execution.project, "domain": execution.domain, "name": execution.name}
    return {
        "id": letter.id,
        "at": _moment(letter),
        "execution": named,
        "reason": found.reason,
        "partition": letter.partition,
        "offset": found.offset,
        "headers": {name: base64.b64encode(value).decode() for name, value in found.headers},
        "bytes": base64.b64encode(found.raw).decode(),
        "event": json.loads(json.dumps(_event(letter), default=repr)),
        "replayed": letter.replayed,
    }


def _event(letter: Letter) -> object:
    """What this version reads in it; None: nothing."""
    event = codec.unpack_record(0, letter.letter.raw, letter.letter.headers).event
    return None if event is None else to_builtins(event)


def _moment(letter: Letter) -> str | None:
    return datetime.fromtimestamp(letter.at, UTC).isoformat(timespec="milliseconds") if letter.at else None
