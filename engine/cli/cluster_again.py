"""recover and relaunch where the engines work on Kafka: the new execution is submitted as a process of theirs would."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from msgspec import structs

from config.settings import Settings
from engine.cli.again import Asked, does
from engine.cli.cluster import Cluster, need_values, reach_cluster
from engine.cli.exitcodes import ExitCode
from engine.cli.finish import accepted, finish
from engine.cli.forecast import Forecast
from engine.cli.screen import say, say_soon
from engine.cli.session import Session
from engine.cli.show import as_text, tell_problems
from engine.cli.verdict import Context
from engine.gateway.asking import once_more
from engine.gateway.documents import Documents
from engine.loop.taken import take
from engine.machine.recovery import refusal
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.wire import codec
from engine.wire.sizes import refuse_large


async def again(context: Context, asked: Asked, home: Path, settings: Settings, session: Session) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    async with reach_cluster(home, settings) as cluster:
        event = await _submitted(cluster, asked)
        execution = event.execution
        following = await cluster.from_now_on(execution)
        await cluster.visitor.publish(execution, codec.pack_event(event))
        if not asked.as_json:
            await say_soon(f"execution {execution.name} {does(asked)} {asked.execution}")
        if not asked.wait:
            if asked.as_json:
                say(accepted(execution))
            return ExitCode.SUCCEEDED
        context.hint = f"execution {execution.name} goes on where it is"
        await cluster.to_the_end(following, quiet=asked.as_json)
        return await finish(cluster, [execution], home, as_json=asked.as_json)


async def foresee(asked: Asked, home: Path, settings: Settings) -> int:
    """What a recovery would do; nothing is started."""
    _refuse_package(asked)
    await need_values(home, settings, "packages and values")
    async with reach_cluster(home, settings) as cluster:
        record = await cluster.record(cluster.named(asked.execution))
        if problem := refusal(record):
            raise BadInput(f"{problem}; nothing was started")
        documents = Documents(cluster.log, cluster.blobs, home)
        forecast = Forecast(await documents.state(await documents.snapshot(record.id)), cluster.blobs)
        await forecast.ask_cache()
        say(as_text(forecast.document()) if asked.as_json else forecast.text())
        return tell_problems(documents)


async def _submitted(cluster: Cluster, asked: Asked) -> ExecutionSubmitted:
    """With its name taken and its inputs stored, as engine.fleet.Fleet.accept does. Raises BadInput."""
    _refuse_package(asked)
    blobs = cluster.client.store
    if blobs is None:
        raise BadInput(
            "store.uri: not set, expected the store of the engines, where the inputs go; nothing was started"
        )
    record = await cluster.record(cluster.named(asked.execution))
    event = once_more(record, asked.name, recover=asked.recover, overwrite_cache=asked.overwrite_cache)
    if await cluster.log.snapshot(event.execution) is not None:
        raise BadInput(f"execution {event.execution.name} exists already; choose another name; nothing was started")
    inputs = await blobs.get(record.inputs_uri) if record.inputs_uri else b""
    event = structs.replace(
        event,
        inputs_uri=blobs.uri(layout.workflow_inputs(event.execution)) if inputs else "",
        submitted_at=time.time(),
        run=secrets.token_hex(8),
    )
    refuse_large(event)
    event = structs.replace(event, run=await take(blobs, event, inputs))
    if event.inputs_uri:
        await blobs.put(event.inputs_uri, inputs, durable=True)
    return event


def _refuse_package(asked: Asked) -> None:
    if asked.package is not None:
        raise BadInput(
            "--package does not work on Kafka: engines there find no sources in a home of yours; nothing was started"
        )
