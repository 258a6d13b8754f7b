"""Commands that ask something of engines on Kafka: what they print, and end with, is as on a home."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from anyio import to_thread
from msgspec import UNSET

from config.settings import Settings
from engine.adapters.kafka.options import Topic
from engine.cli.cluster import Cluster, need_values, reach_cluster
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import accepted, finish
from engine.cli.retry import refuse_retry
from engine.cli.screen import say, say_soon
from engine.cli.session import Session
from engine.cli.submit import Asked, inputs_of
from engine.cli.verdict import Context
from engine.cli.views import announce
from engine.client.following import Rejected
from engine.gateway.asking import Approval, refuse_abort
from engine.gateway.documents import Documents
from engine.gateway.names import random_name
from engine.model.ids import EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.requests import ExecutionRequested, SignalGiven
from engine.registry.entries import Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.running import runnable
from engine.wire.answers import fitting_literal
from engine.wire.inputs import inputs_for
from handlers.registry import default_handlers


async def submit(
    context: Context, asked: Asked, settings: Settings, wait: bool, as_json: bool, session: Session
) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with reach_cluster(asked.home, settings, asked.project, asked.domain) as cluster:
        request = await _request(cluster, asked)
        execution = request.execution
        position = await cluster.visitor.ends(execution, Topic.STATE, Topic.HISTORY)
        submitted = await cluster.client.request(request)
        if not wait:
            say(accepted(execution) if as_json else execution.name)
            return ExitCode.SUCCEEDED
        context.hint = f"execution {execution.name} goes on where it is"
        await announce(execution, quiet=as_json)
        if asked.name is None:
            cluster.log.begin(execution, position)
        try:
            await cluster.to_the_end(submitted, quiet=as_json)
        except* Rejected:
            context.hint = ""
            raise
        return await finish(cluster, [execution], asked.home, as_json=as_json)


async def watch(name: str, home: Path, settings: Settings, as_json: bool, session: Session) -> int:
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(name)
        following = await cluster.from_now_on(execution)
        if not (await cluster.record(execution)).terminal:
            await cluster.to_the_end(following, quiet=as_json)
        return await finish(cluster, [execution], home, as_json=as_json)


async def abort(name: str, reason: str, home: Path, settings: Settings, wait: bool, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(name)
        record = await cluster.record(execution)
        refuse_abort(record)
        if record.phase is ExecutionPhase.ABORTED:
            await say_soon(f"execution {execution.name} was ABORTED already")
            return ExitCode.SUCCEEDED
        following = await cluster.from_now_on(execution)
        await cluster.client.abort(execution, reason)
        if not wait:
            await say_soon(f"execution {execution.name} is told to stop")
            return ExitCode.SUCCEEDED
        # It may have ended between the two looks.
        if not (await cluster.record(execution)).terminal:
            await cluster.to_the_end(following, quiet=True)
        await finish(cluster, [execution], home, as_json=False)
        ended = await cluster.record(execution)
    return ExitCode.SUCCEEDED if ended.phase is ExecutionPhase.ABORTED else ExitCode.FAILED


async def signal(
    name: str, signal_id: str, value: str | Approval, home: Path, settings: Settings, session: Session
) -> int:
    """Returns when an engine has taken it."""
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(name)
        await cluster.record(execution)
        if isinstance(value, Approval):
            given = SignalGiven(execution, signal_id, UNSET, value.passes, secrets.token_hex(8))
        else:
            typed = await _typed(cluster, execution, signal_id, value)
            given = SignalGiven(execution, signal_id, typed, UNSET, secrets.token_hex(8))
        await cluster.client.accepted(await cluster.client.give(given))
    await say_soon(f"signal {signal_id!r} of execution {execution.name} is set")
    return ExitCode.SUCCEEDED


async def retry_node(name: str, path: str, all_elements: bool, home: Path, settings: Settings, session: Session) -> int:
    """Returns when the request is durable, as on a home; the engine that has the execution acts on it."""
    session.deadline_seconds = settings.shutdown.deadline_seconds
    await need_values(home, settings, "packages")
    async with reach_cluster(home, settings) as cluster:
        execution = cluster.named(name)
        await cluster.record(execution)
        await refuse_retry(Documents(cluster.log, cluster.blobs, cluster.home), execution, path)
        await cluster.client.retry_node(execution, path, all_elements=all_elements)
    await say_soon(f"node {path} of execution {execution.name} is tried again")
    return ExitCode.SUCCEEDED


async def _request(cluster: Cluster, asked: Asked) -> ExecutionRequested:
    """With the inputs read by their types, where there is a store that says them. Raises BadInput."""
    given, entity = await inputs_of(asked), asked.entity
    inputs: dict[str, object] | bytes = _natural(given)
    if cluster.knows_values:
        registry = Registry(cluster.blobs)
        entry = await find(registry, asked.entity, *cluster.place, RUNNABLE)
        entity = f"{entry.id.name}:{entry.id.version}"
        # The workflow of a task is made by whoever can write to the store.
        if entry.id.kind is not EntityKind.TASK or cluster.client.store is not None:
            found = await runnable(registry, entry, default_handlers())
            inputs = await to_thread.run_sync(inputs_for, found.target, given, "--input ")
    return ExecutionRequested(
        ExecutionId(*cluster.place, asked.name or random_name()),
        entity,
        inputs=inputs,
        overwrite_cache=asked.overwrite_cache,
        overrides=asked.overrides,
        request=secrets.token_hex(8),
    )


async def _typed(cluster: Cluster, execution: ExecutionId, signal_id: str, value: str) -> object:
    """The literal of a value, by the type that its gate declares; where nobody can say that, what it looks like."""
    snapshot = await cluster.log.snapshot(execution)
    documents = Documents(cluster.log, cluster.blobs, cluster.home)
    state = await documents.state(snapshot) if snapshot is not None else None
    if state is None or documents.problems:
        return _looks_like(value)
    return fitting_literal(state, signal_id, value)


def _natural(given: Mapping[str, object]) -> dict[str, object]:
    return {name: _looks_like(value) if type(value) is str else value for name, value in given.items()}


def _looks_like(text: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError:
        return text
    return found
