"""S09, S10 and S11: the watch expires, falls silent, is cut or chokes; pods vanish while nobody looks."""

from __future__ import annotations

import json

import anyio
import pytest
from aiohttp import web

from engine.ports.taskrunner import ExitReason
from tests.contract.clusterworld import World, ask, first, name
from tests.fakeapi import refusal, verb_of
from tests.podworld import RUNNING, key, terminated

EXPIRED = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}


@pytest.mark.parametrize("form", ["status", "event"])
async def test_an_expired_position_is_listed_anew(world: World, form: str) -> None:
    keys = [key(f"n{number}") for number in range(3)]

    def expired() -> web.StreamResponse:
        return refusal(410, "Expired") if form == "status" else web.Response(text=json.dumps(EXPIRED) + "\n")

    async with world.runner() as runner, anyio.create_task_group() as tasks:
        for it in keys:
            tasks.start_soon(world.run, runner, ask(it))
        await world.until(lambda: len(world.started) == 3)
        world.api.trouble.append(first(1, "WATCH", expired))
        queues = [*world.api.watches]
        world.api.watches.clear()
        world.api.status(name(keys[0]), "Succeeded", terminated(0, "Completed"))
        world.api.status(name(keys[1]), "Failed", terminated(1))
        world.api.history.clear()
        for queue in queues:
            queue.put_nowait(None)
        assert (await world.end(keys[0])).code == 0
        assert (await world.end(keys[1])).code == 1
        assert keys[2] not in world.ends
        assert world.count("LIST") == 2
        assert len(world.started) == 3
        tasks.cancel_scope.cancel()


async def test_a_silent_stream_is_given_up(world: World) -> None:
    """The socket stays open, nothing comes, and the server does not end it when it should."""

    async def silent(call: web.Request) -> web.StreamResponse | None:
        if verb_of(call) != "WATCH" or world.count("WATCH") > 2:
            return None
        response = web.StreamResponse()
        await response.prepare(call)
        await anyio.sleep(30)
        return response

    world.api.trouble.append(silent)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.seen("POST", 1)
        await world.seen("WATCH", 1)
        world.api.status(name(), "Succeeded", terminated(0, "Completed"))
        assert (await world.end()).code == 0
        tasks.cancel_scope.cancel()


async def test_streams_that_end_early_lose_and_double_nothing(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        keys = [key(f"n{number}") for number in range(6)]
        for number, it in enumerate(keys):
            tasks.start_soon(world.run, runner, ask(it))
            await world.until(lambda it=it: it in world.started)  # type: ignore[misc]
            if number % 2:
                world.api.cut()
        for it in keys:
            world.api.status(name(it), "Failed", terminated(3))
            world.api.cut()
        for it in keys:
            assert (await world.end(it)).code == 3
        assert sorted(world.started) == keys
        assert world.count("LIST") == 1
        tasks.cancel_scope.cancel()


async def test_a_cut_line_is_read_again_from_the_last_whole_one(world: World) -> None:
    async def cutting(call: web.Request) -> web.StreamResponse | None:
        if verb_of(call) != "WATCH" or world.count("WATCH") != 2:
            return None
        response = web.StreamResponse()
        response.content_length = 10_000
        await response.prepare(call)
        lines = [line for version, line in world.api.history if version > int(call.query["resourceVersion"])]
        await response.write(lines[0] + lines[1][: len(lines[1]) // 2])
        assert call.transport is not None
        call.transport.close()
        return response

    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.trouble.append(cutting)
        queues = [*world.api.watches]
        world.api.watches.clear()
        world.api.annotate(name(), seen="whole")
        world.api.status(name(), "Failed", terminated(3))
        for queue in queues:
            queue.put_nowait(None)
        assert (await world.end()).code == 3
        assert world.count("LIST") == 1
        tasks.cancel_scope.cancel()


async def test_a_large_object_is_read(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.annotate(name(), large="x" * 3 * 2**20)
        world.api.status(name(), "Failed", terminated(3))
        assert (await world.end()).code == 3
        assert world.count("LIST") == 1
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("phase", ["Running", "Pending"])
async def test_a_deleted_pod_is_lost(world: World, phase: str) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        if phase == "Pending":
            world.api.kubelet = lambda pod: None
        tasks.start_soon(world.run, runner, ask())
        await world.seen("POST", 1)
        await world.seen("WATCH", 1)
        if phase == "Running":
            await world.until(lambda: world.started == [key()])
        world.api.drop(name())
        ended = await world.end()
        assert (ended.reason, name() in ended.message) == (ExitReason.LOST, True)
        tasks.cancel_scope.cancel()


async def test_what_vanished_in_a_gap_is_lost(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.trouble.append(first(1, "WATCH", lambda: refusal(410)))
        world.api.drop(name(), silently=True)
        world.api.cut()
        assert (await world.end()).reason is ExitReason.LOST
        tasks.cancel_scope.cancel()


async def test_a_pod_that_ended_before_it_went_has_its_verdict(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        pod = world.api.pods[name()]
        pod["status"]["containerStatuses"][0]["state"] = terminated(0, "Completed")
        world.api.drop(name())
        assert (await world.end()).reason is ExitReason.EXITED
        tasks.cancel_scope.cancel()


async def test_what_a_pod_printed_is_kept(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.status(name(), "Failed", terminated(3))
        await world.end()
        assert await world.store.get("memory://store/p/stdout.log") == b"printed by " + name().encode()
        other = key("n1")
        world.api.trouble.append(first(9, "LOG", lambda: refusal(500)))
        tasks.start_soon(world.run, runner, ask(other))
        await world.until(lambda: other in world.started)
        world.api.status(name(other), "Failed", terminated(3))
        assert (await world.end(other)).code == 3
        tasks.cancel_scope.cancel()


async def test_what_a_pod_waits_for_can_be_read(world: World) -> None:
    world.api.kubelet = lambda pod: world.api.status(
        pod["metadata"]["name"],
        "Pending",
        conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}],
    )
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.seen("POST", 1)
        await world.seen("WATCH", 2)
        why = "its pod to start: a node (Unschedulable): 0/3 nodes"
        assert runner.notes.of == {key(): why}
        note = "memory://store/p/waiting"
        await world.until(lambda: world.stored.get(note) == why.encode())
        world.api.status(name(), "Running", RUNNING)
        await world.until(lambda: world.started == [key()])
        assert runner.notes.of == {}
        await world.until(lambda: world.stored[note] == b"")
        tasks.cancel_scope.cancel()
