"""submit, watch, signal and abort with --kafka: the same output and exit codes as on a home."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
from anyio import to_thread

from engine.adapters.files.blobs import FileBlobs
from engine.stores import STORE_FOLDER
from tests.backing.session import address
from tests.contract.kafka_engine import engine_on
from tests.contract.kafka_world import kafka_world
from tests.service.command import WORKFLOWS, Done, Propwash, propwash

__all__ = ["propwash"]
pytestmark = [pytest.mark.service("kafka"), pytest.mark.service("flytekit"), pytest.mark.timeout(240)]
PATIENCE_SECONDS = 200.0


class Commands:
    """Each with the options that lead to the engine."""

    def __init__(self, propwash: Propwash, prefix: str) -> None:
        self._propwash = propwash
        self._where = ("--kafka", address("kafka"), "--set", f"kafka.prefix={prefix}")

    async def __call__(self, command: str, *words: str) -> Done:
        run = partial(self._propwash, command, *words, *self._where)
        return await to_thread.run_sync(run, abandon_on_cancel=True)


@asynccontextmanager
async def served(propwash: Propwash) -> AsyncIterator[Commands]:
    """gates.py is registered in a home whose store the engine shares; its log is on Kafka."""
    registered = await to_thread.run_sync(propwash, "register", str(WORKFLOWS / "gates.py"), "--version", "v1")
    assert registered.code == 0, registered.err
    async with (
        FileBlobs.open(propwash.home / STORE_FOLDER, durable=False) as blobs,
        kafka_world() as world,
        engine_on(world, blobs),
    ):
        yield Commands(propwash, world.clients.options.prefix)


async def test_an_execution_is_submitted_answered_and_watched(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as command:
            wrong = await command("submit", "asks", "--input", "n=x")
            assert (wrong.code, wrong.out) == (2, "")
            assert '--input n: expected int, got "x"' in wrong.err
            unknown = await command("submit", "askz")
            assert unknown.code == 2
            assert "no launch plan, workflow or task 'askz' is registered" in unknown.err

            accepted = await command("submit", "asks", "--input", "n=1", "--name", "g1", "--no-wait")
            assert (accepted.code, accepted.out, accepted.err) == (0, "g1\n", "")

            told = await command("get", "g1")
            answer = f"propwash signal g1 how-many VALUE --kafka {address('kafka')}"
            assert (told.code, answer in told.out) == (0, True), told
            assert (await command("signal", "g1", "how-mny", "7")).code == 2
            refused = await command("signal", "g1", "how-many", "seven")
            assert (refused.code, refused.err) == (2, "Error: signal 'how-many': expected int, got \"seven\"\n")
            answered = await command("signal", "g1", "how-many", "7")
            assert (answered.code, answered.out) == (0, "signal 'how-many' of execution g1 is set\n"), answered.err
            async with anyio.create_task_group() as group:
                shown: list[Done] = []

                async def watch() -> None:
                    shown.append(await command("watch", "g1"))

                group.start_soon(watch)
                assert (await command("signal", "g1", "sure", "--approve")).code == 0
            (watched,) = shown
            assert watched.code == 0, watched.err
            assert watched.out.endswith('{\n  "o0": 7\n}\n')

            again = await command("submit", "asks", "--input", "n=1", "--name", "g1", "--json")
            assert again.code == 0, again.err
            document = json.loads(again.out)
            assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"o0": 7})
            assert [node["path"] for node in document["nodes"]] == ["n0", "n1", "n2", "n3", "n4"]

            other = await command("submit", "asks", "--input", "n=2", "--name", "g1")
            assert (other.code, other.out) == (2, "")
            assert "g1 exists already (SUCCEEDED), with other content" in other.err
            late = await command("abort", "g1")
            assert (late.code, late.err) == (
                2,
                "Error: execution g1 has SUCCEEDED already; there is nothing to abort\n",
            )
            assert (await command("watch", "nobody")).code == 2


async def test_an_execution_is_aborted(propwash: Propwash) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served(propwash) as command:
            async with anyio.create_task_group() as group:
                submitted: list[Done] = []

                async def submit() -> None:
                    submitted.append(await command("submit", "asks", "--input", "n=1", "--name", "g2"))

                group.start_soon(submit)
                while (aborted := await command("abort", "g2", "--reason", "no longer")).code == 2:
                    assert "there is no execution flytesnacks:development:g2 on Kafka" in aborted.err
            assert aborted.code == 0, aborted.err
            assert "no longer" in aborted.err
            (done,) = submitted
            assert done.code == 1
            assert "execution g2 RUNNING launch plan" in done.out
            assert "execution g2 ABORTED after" in done.out
            again = await command("abort", "g2")
            assert (again.code, again.out) == (0, "execution g2 was ABORTED already\n")
