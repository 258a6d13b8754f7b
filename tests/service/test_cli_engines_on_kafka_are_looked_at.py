"""list, get, logs, check and retry-node with --kafka: what they print of a home, they print of engines on Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
import yaml
from anyio import to_thread
from flyteidl.core.workflow_pb2 import WorkflowMetadata

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.kafka.keys import key_of, node_key
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.sending import deliver, grouped
from engine.adapters.kafka.visitor import Visitor
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, raises
from engine.client.connecting import Client
from engine.model.ids import ExecutionId
from engine.ports.taskrunner import Exit, TaskRequest
from engine.stores import STORE_FOLDER
from tests import packages
from tests.backing.session import address
from tests.contract.kafka_engine import DOMAIN, PROJECT, engine_on, registered
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.flow.asking import INT
from tests.service.command import Done, Propwash, propwash

__all__ = ["propwash"]
pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(240)]
PATIENCE_SECONDS = 200.0


class Scripted:
    """Tasks print their node; n0 of the execution `broken` fails at its first attempt, and n1 waits to be told."""

    def __init__(self, blobs: FileBlobs) -> None:
        self._blobs, self._copies = blobs, copies(blobs)
        self.go_on = anyio.Event()

    async def __call__(self, request: TaskRequest) -> Exit:
        key, script = request.key, self._copies
        if key.execution.name == "broken" and key.path == "n1":
            await self.go_on.wait()
        if key.execution.name == "broken" and key.path == "n0" and not key.attempt:
            script = raises(self._blobs, "boom")
        printed = f"{key.path} of {key.execution.name}, attempt {key.attempt + 1}\n"
        await self._blobs.put(f"{request.prefix_uri}/stdout.log", printed.encode())
        played = script(request)
        return played if isinstance(played, Exit) else await played


class Service:
    def __init__(self, propwash: Propwash, world: KafkaWorld, client: Client, script: Scripted) -> None:
        self.world, self.client, self.script = world, client, script
        options = world.clients.options
        config = {
            "kafka": {"bootstrap": options.bootstrap, "prefix": options.prefix},
            "store": {"uri": f"file://{propwash.home / STORE_FOLDER}"},
        }
        (propwash.folder / "service.yaml").write_text(yaml.safe_dump(config))
        self._propwash, self._where = propwash, ("--config", str(propwash.folder / "service.yaml"))

    async def __call__(self, command: str, *words: str, environ: Mapping[str, str] | None = None) -> Done:
        run = partial(self._propwash, command, *words, *self._where, environ=environ)
        return await to_thread.run_sync(run, abandon_on_cancel=True)

    async def bare(self, *words: str) -> Done:
        """Without a settings file."""
        return await to_thread.run_sync(partial(self._propwash, *words), abandon_on_cancel=True)


@asynccontextmanager
async def served(propwash: Propwash) -> AsyncIterator[Service]:
    """A workflow of two tasks beside each other, and an engine that shares the store of a home."""
    async with FileBlobs.open(propwash.home / STORE_FOLDER, durable=False) as blobs:
        nodes = [packages.node(f"n{number}", {"a": packages.given("n")}) for number in range(2)]
        workflow = packages.workflow("m.two", *nodes, gives={"o0": (INT, packages.output("n0"))})
        workflow.template.metadata.on_failure = WorkflowMetadata.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
        await registered(blobs, packages.task("m.t"), workflow)
        script = Scripted(blobs)
        async with (
            kafka_world() as world,
            engine_on(world, blobs, NoopRunner(script)),
            Visitor.open(world.clients) as visitor,
        ):
            yield Service(propwash, world, Client(visitor, blobs, (PROJECT, DOMAIN)), script)


async def test_what_is_and_was_there(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as service:
            empty = await service("list")
            assert empty.out == f"no execution on Kafka at {address('kafka')}\n"
            await service.client.wait(await service.client.submit("m.two", {"n": 7}, name="whole"))
            await service.client.wait(await service.client.submit("m.two", {"n": 8}, name="other"))

            listed = await service("list")
            assert listed.code == 0, listed.err
            assert [line.split()[0] for line in listed.out.splitlines()] == ["NAME", "whole", "other"]
            one = await service("list", "--newest-first", "--limit", "1", "--json")
            (document,) = one.document
            assert (document["execution"]["name"], document["outputs"]) == ("other", {"o0": 8})
            none = await service("list", "--phase", "FAILED")
            assert none.out == f"none of the executions on Kafka at {address('kafka')} matches\n"

            got = await service("get", "whole", "--json")
            assert got.code == 0, got.err
            assert got.document["outputs"] == {"o0": 7}
            assert [node["path"] for node in got.document["nodes"]] == ["n0", "n1"]
            told = await service("get", "whole")
            assert "whole" in told.out.splitlines()[0]
            assert told.out.endswith('outputs {\n  "o0": 7\n}\n')
            assert (await service("get", "nobody")).code == 2

            printed = await service("logs", "whole", "n1")
            assert (printed.code, printed.out) == (0, "n1 of whole, attempt 1\n"), printed.err
            assert "there is no node 'n5'" in (await service("logs", "whole", "n5")).err

            clean = await service("check")
            assert clean.code == 0, clean.out
            assert clean.out.startswith(f"Kafka at {address('kafka')}, as of offset ")
            assert "2 executions (0 unfinished), 8 nodes" in clean.out
            node = node_key(key_of(ExecutionId(PROJECT, DOMAIN, "whole")), "n0")
            producer = await service.world.clients.start_producer()
            await deliver(producer, grouped([Message(Topic.STATE, 0, node, None)], service.world.clients.options))
            await producer.stop()
            broken = await service("check", "--json")
            assert broken.code == 1, broken.err
            assert broken.document["kafka"] == address("kafka")
            assert [(it["execution"], it["node"], it["what"]) for it in broken.document["problems"]] == [
                (f"{PROJECT}:{DOMAIN}:whole", "n0", "has no state")
            ]


async def test_a_node_that_failed_is_tried_again(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as service:
            asked = await service.client.submit("m.two", {"n": 7}, name="broken")
            async for fact in service.client.follow(asked):
                if (fact.path, fact.phase) == ("n0", "FAILED"):
                    break
            early = await service("retry-node", "broken", "n1")
            assert early.code == 2
            assert "node n1 is RUNNING; only a node that has failed can be tried again: n0 has" in early.err
            again = await service("retry-node", "broken", "n0")
            assert (again.code, again.out) == (0, "node n0 of execution broken is tried again\n"), again.err
            async for fact in service.client.follow(asked):
                if (fact.path, fact.phase) == ("n0", "SUCCEEDED"):
                    break
            service.script.go_on.set()
            assert (await service.client.wait(asked)).phase.value == "SUCCEEDED"
            printed = await service("logs", "broken", "n0")
            assert printed.out == "n0 of broken, attempt 2\n"
            first = await service("logs", "broken", "n0", "--attempt", "1", "--stdout")
            assert first.out == "n0 of broken, attempt 1\n"
            assert (await service("check")).code == 0


async def test_an_execution_is_recovered_and_repeated(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as service:
            service.script.go_on.set()
            asked = await service.client.submit("m.two", {"n": 7}, name="broken")
            assert (await service.client.wait(asked)).phase.value == "FAILED"
            told = await service("recover", "broken", "--dry-run", "--json")
            assert told.code == 0, told.err
            mended = await service("recover", "broken", "--name", "mended", "--json")
            assert mended.code == 0, mended.err
            document = mended.document
            assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"o0": 7})
            assert [node["phase"] for node in document["nodes"]] == ["SUCCEEDED", "RECOVERED"]
            again = await service("relaunch", "mended", "--name", "again")
            assert again.code == 0, again.err
            assert again.out.startswith("execution again repeats mended\n")
            assert again.out.endswith('{\n  "o0": 7\n}\n')
            taken = await service("relaunch", "broken", "--name", "again")
            assert (taken.code, "execution again exists already" in taken.err) == (2, True)
            whole = await service("recover", "again")
            assert (whole.code, "nothing was started" in whole.err) == (2, True)
            assert (await service("check")).code == 0


async def test_what_can_not_be_told_is_said(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as service:
            await service.client.wait(await service.client.submit("m.two", {"n": 7}, name="whole"))
            options = service.world.clients.options
            elsewhere = ("--kafka", options.bootstrap, "--set", f"kafka.prefix={options.prefix}", "--home", "/nowhere")
            for words in (("logs", "whole", "n0"), ("check",), ("retry-node", "whole", "n0")):
                done = await service.bare(*words, *elsewhere)
                assert done.code == 2
                assert "expected the setting store.uri" in done.err
            listed = await service.bare("list", *elsewhere)
            assert listed.code == 0
            assert "whole" in listed.out

            done = await service("replay", "whole")
            assert (done.code, done.out) == (2, "")
            assert "replay does not work on Kafka" in done.err
