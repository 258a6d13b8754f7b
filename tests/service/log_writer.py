"""A process that fills a log until it is killed: `python -m tests.service.log_writer HOME`.

It prints, after the log has acknowledged it, `appended N` for each durable event and `committed N` for each turn.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import anyio

from engine.adapters.sqlite.log import SqliteLog
from engine.ports.eventlog import Changes
from tests.contract.log_nouns import execution, fact, named, node, submitted, succeeded


async def main(home: Path) -> None:
    async with SqliteLog.open(home) as log:
        for number in count():
            name = f"e{number}"
            await log.append([submitted(name)], durable=True)
            print("appended", number, flush=True)
            await log.append([succeeded(name)], durable=False)
            nodes = [(named(name), node("n0")), (named(name), node("n1"))]
            changes = Changes(executions=[execution(name)], nodes=nodes, facts=[fact(name, 1), fact(name, 2)])
            await log.commit(await log.read(), changes)
            print("committed", number, flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
