"""`propwash check`: whether a home is what it should be, whatever happened to the engines that worked on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec import structs

from engine.cli.audit import audit
from engine.cli.exitcodes import ExitCode
from engine.cli.inspection import Counts
from engine.cli.screen import say
from engine.machine.replay import Problem

if TYPE_CHECKING:
    from config.settings import Settings


def check(home: Path, settings: Settings | None, *, as_json: bool) -> int:
    """Raises BadInput where no home is, and LogFailed for a log that can't be read at all."""
    kafka = settings.kafka.bootstrap if settings is not None else None
    problems: list[Problem] = []

    def tell(problem: Problem) -> None:
        problems.append(problem)
        if not as_json:
            say(line(problem))

    if settings is not None and kafka is not None:
        from engine.cli import cluster_looks

        counts = anyio.run(cluster_looks.check, home, settings, tell)
    else:
        counts = anyio.run(audit, home, tell, settings)
    if as_json:
        document = {
            **({"kafka": kafka} if kafka else {"home": str(home.absolute())}),
            "counts": structs.asdict(counts),
            "problems": [structs.asdict(problem) for problem in problems],
        }
        say(json.dumps(document, indent=2))
    else:
        where = f"Kafka at {kafka}, as of offset" if kafka else f"{home}, as of event"
        say(summary(where, counts, len(problems)))
    return ExitCode.FAILED if problems else ExitCode.SUCCEEDED


def line(problem: Problem) -> str:
    """`execution p:d:e1, node n0[3]: is RUNNING ...; expected: ...`."""
    where = [f"execution {problem.execution}"] * bool(problem.execution) + [f"node {problem.node}"] * bool(problem.node)
    return f"{', '.join(where) or 'the log'}: {problem.what}; expected: {problem.expected}"


def summary(where: str, counts: Counts, problems: int) -> str:
    found = "no problem" if not problems else "1 problem" if problems == 1 else f"{problems} problems"
    return (
        f"{where} {counts.cursor} of {counts.last_event}: {counts.executions} executions "
        f"({counts.unfinished} unfinished), {counts.nodes} nodes, {counts.facts} facts, "
        f"{counts.objects} stored values, {counts.dead_letters} dead letters: {found}"
    )
