"""S05 and S21: the engine dies, or a reply is lost, around the creation of a pod; pods of others are in the way."""

from __future__ import annotations

import anyio
from aiohttp import web

from engine.adapters.kubernetes.naming import KEY, written
from engine.adapters.kubernetes.options import PodOptions
from engine.model.errors import ErrorKind
from engine.ports.taskrunner import ExitReason
from tests.contract.clusterworld import World, ask, foreign, name
from tests.fakeapi import verb_of
from tests.podworld import key, terminated


def held_creation(world: World) -> tuple[anyio.Event, anyio.Event]:
    """Set when a pod is asked for; to be set for the answer to come."""
    asked, go_on = anyio.Event(), anyio.Event()

    async def slow(call: web.Request) -> web.StreamResponse | None:
        if verb_of(call) == "POST":
            asked.set()
            await go_on.wait()
        return None

    world.api.trouble.append(slow)
    return asked, go_on


async def test_the_next_engine_adopts_what_runs(world: World) -> None:
    keys = [key(f"n{number}") for number in range(20)]
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        for it in keys:
            tasks.start_soon(world.run, runner, ask(it))
        await world.until(lambda: len(world.started) == 20)
        tasks.cancel_scope.cancel()
    assert world.count("POST") == 20
    world.started.clear()
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        for it in keys:
            tasks.start_soon(world.run, runner, ask(it, begun=True))
        await world.until(lambda: len(world.started) == 20)
        for it in keys:
            world.api.status(name(it), "Succeeded", terminated(0, "Completed"))
        for it in keys:
            assert (await world.end(it)).reason is ExitReason.EXITED
    assert (world.count("POST"), world.count("DELETE")) == (20, 0)


async def test_a_lost_reply_makes_no_second_pod(world: World) -> None:
    async def lost(call: web.Request) -> web.StreamResponse | None:
        if verb_of(call) == "POST" and world.count("POST") == 1:
            await world.api._create(call)
            assert call.transport is not None
            call.transport.abort()
        return None

    world.api.trouble.append(lost)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.status(name(), "Succeeded", terminated(0, "Completed"))
        assert (await world.end()).code == 0
    assert world.count("POST") == 2
    assert len(world.api.pods) == 1


async def test_a_pod_that_is_being_deleted_is_not_adopted(world: World) -> None:
    old = foreign(uid="old", deletionTimestamp="2026-01-01T12:00:00Z", annotations={KEY: written(key())})
    world.api.put(old)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.seen("GET", 1)
        assert world.started == []
        world.api.drop(name())
        await world.until(lambda: world.started == [key()])
        assert world.api.pods[name()]["metadata"]["uid"] != "old"
        tasks.cancel_scope.cancel()


async def test_a_pod_of_nobody_here_is_left_alone(world: World) -> None:
    world.api.put(foreign())
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        problem = await world.refusal()
    assert problem.failure.kind is ErrorKind.SYSTEM
    assert name() in problem.failure.message
    assert "belongs to nobody here" in problem.failure.message
    assert world.count("DELETE") == 0


async def test_a_pod_of_another_attempt_that_stays_is_named(world: World) -> None:
    world.api.put(foreign(annotations={KEY: written(key("other"))}))
    async with world.runner(PodOptions(stop_seconds=0.1)) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        problem = await world.refusal()
    assert "is of attempt p:d:e|other|0|0 and does not go" in problem.failure.message
    assert world.count("DELETE") == 0


async def test_an_attempt_that_had_begun_and_has_no_pod_is_lost(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask(begun=True))
        ended = await world.end()
    assert ended.reason is ExitReason.LOST
    assert world.count("POST") == 0


async def test_a_stop_while_the_pod_is_being_made_leaves_none(world: World) -> None:
    asked, go_on = held_creation(world)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await asked.wait()
        tasks.start_soon(runner.stop, key())
        await anyio.lowlevel.checkpoint()
        go_on.set()
        await world.end()
    assert world.api.pods == {}
    assert world.started == []


async def test_a_delete_is_tried_again_until_it_is_done(world: World) -> None:
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])

        async def broken(call: web.Request) -> web.StreamResponse | None:
            return web.Response(status=500) if verb_of(call) == "DELETE" and world.count("DELETE") < 3 else None

        world.api.trouble.append(broken)
        await runner.stop(key())
        await runner.stop(key())
    assert world.api.pods == {}
    assert world.count("DELETE") == 3


async def test_what_does_not_end_is_deleted_by_force(world: World) -> None:
    async with world.runner(PodOptions(stop_seconds=0.2)) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.annotate(name(), stubborn="yes")
        await runner.stop(key())
    assert world.api.pods == {}
    assert world.count("DELETE") == 2


async def test_a_finalizer_holds_a_pod_only_for_its_verdict(world: World) -> None:
    async with world.runner(PodOptions(finalizer=True)) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.status(name(), "Failed", terminated(3))
        assert (await world.end()).code == 3
        assert "finalizers" not in world.api.pods[name()]["metadata"]
        other = key("n1")
        tasks.start_soon(world.run, runner, ask(other))
        await world.until(lambda: other in world.started)
        await runner.stop(other)
        assert name(other) not in world.api.pods


async def test_the_next_attempt_removes_the_pod_of_the_one_before(world: World) -> None:
    again = key(attempt=1)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        world.api.status(name(), "Failed", terminated(3))
        await world.end()
        assert name() in world.api.pods
        tasks.start_soon(world.run, runner, ask(again))
        await world.seen("DELETE", 1)
        await world.until(lambda: again in world.started)
        assert [*world.api.pods] == [name(again)]
        # The node comes back, and the kubelet with the old pod.
        world.api.put({**foreign(annotations={KEY: written(key())}), "spec": {}})
        await world.seen("DELETE", 2)
        tasks.cancel_scope.cancel()


async def test_a_pod_that_nobody_waits_for_is_held_by_nobody(world: World) -> None:
    """Its engine died, somebody has deleted it, and its execution is over."""
    options = PodOptions(finalizer=True)
    async with world.runner(options) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        tasks.cancel_scope.cancel()
    pod = world.api.pods[name()]
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:30Z"
    other = key("n1")
    async with world.runner(options) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask(other))
        await world.until(lambda: other in world.started)
        assert runner.left() == [key()]
        runner.done_with([key()])
        await world.seen("PATCH", 1)
        tasks.cancel_scope.cancel()
    assert [*world.api.pods] == [name(other)]


async def test_an_engine_that_stops_while_it_makes_a_pod_leaves_one_for_the_next(world: World) -> None:
    """S30: the call is under way when the engine is told to stop; what comes of it is found by its name."""
    asked, go_on = held_creation(world)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await asked.wait()
        tasks.cancel_scope.cancel()
    go_on.set()
    assert world.ends == {}
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        assert [*world.api.pods] == [name()]
        world.api.status(name(), "Succeeded", terminated(0, "Completed"))
        assert (await world.end()).code == 0
