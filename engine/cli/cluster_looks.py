"""list, get, logs and check where the engines work on Kafka: read off the topics, by code that reads homes as well."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from config.settings import Settings
from engine.adapters.kafka import topics
from engine.adapters.kafka.slices import Slice, Slices
from engine.brokers import clients_of
from engine.cli.cluster import knows_values, need_values, reach_cluster, store_of
from engine.cli.cluster_audit import audit_cluster
from engine.cli.exitcodes import ExitCode
from engine.cli.inspection import Counts, Tell
from engine.cli.listing import Wanted
from engine.cli.printed import Asked, print_stored, print_unstored
from engine.cli.report import execution_table
from engine.cli.screen import say
from engine.cli.show import as_text, describe, tell_problems
from engine.cli.unstored import cluster_prints
from engine.gateway.documents import Documents
from engine.machine.selecting import chosen
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Snapshot
from engine.wire.natural import Json


async def get(name: str, home: Path, settings: Settings, as_json: bool) -> int:
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(name)
        await cluster.record(execution)
        documents = Documents(cluster.log, cluster.blobs, home)
        if as_json:
            say(as_text(await documents.full(execution)))
        else:
            say(await describe(documents, execution, time.time(), cluster.brokers))
        return tell_problems(documents)


async def logs(asked: Asked, home: Path, settings: Settings) -> int:
    await need_values(home, settings, "what tasks print")
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(asked.execution)
        await cluster.record(execution)
        documents = Documents(cluster.log, cluster.blobs, home)
        left = await print_stored(documents, await documents.snapshot(execution), asked)
        if left is not None:
            await print_unstored(cluster.blobs, left, asked.streams, partial(cluster_prints, settings))
    return ExitCode.SUCCEEDED


async def executions(home: Path, wanted: Wanted, settings: Settings, as_json: bool) -> int:
    clients = await to_thread.run_sync(clients_of, settings.kafka)
    slices = Slices(clients, await topics.count(clients))
    records = [record for each in await _all(slices) for record in each.executions.values()]
    found = list(chosen(records, wanted.selection(time.time())))
    if not wanted.newest_first:
        found.reverse()
    if as_json:
        return await _documents(slices, found, home, settings)
    where = f"on Kafka at {settings.kafka.bootstrap}"
    if found:
        say(execution_table(found, time.time()))
    else:
        say(f"none of the executions {where} matches" if records else f"no execution {where}")
    return ExitCode.SUCCEEDED


async def check(home: Path, settings: Settings, tell: Tell) -> Counts:
    await need_values(home, settings, "packages and values")
    clients = await to_thread.run_sync(clients_of, settings.kafka)
    async with store_of(home, settings) as blobs:
        return await audit_cluster(clients, blobs, tell)


async def _all(slices: Slices) -> list[Slice]:
    """The records of all executions, without their nodes."""
    return [await slices.states(partition, nodes=False) for partition in range(slices.partitions)]


class _Read:
    """Executions of one partition, to make documents of."""

    def __init__(self, states: Slice) -> None:
        self._states = states

    async def executions(self) -> Sequence[Execution]:
        return list(self._states.executions.values())

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        return self._states.snapshot(execution) if execution in self._states.executions else None


async def _documents(slices: Slices, found: Sequence[Execution], home: Path, settings: Settings) -> int:
    """Partition by partition, printed in the order of the list. One that was forgotten meanwhile is left out."""
    made: dict[ExecutionId, dict[str, Json]] = {}
    code = 0
    async with store_of(home, settings) as blobs:
        for partition in sorted({slices.owner(record.id) for record in found}):
            log = _Read(await slices.states(partition))
            documents = Documents(log, blobs, home)
            for record in found:
                if slices.owner(record.id) == partition and await log.snapshot(record.id) is not None:
                    made[record.id] = await documents.of(record.id)
            code = max(code, tell_problems(documents) if await knows_values(home, settings) else 0)
    say(as_text([made[record.id] for record in found if record.id in made]))
    return code
