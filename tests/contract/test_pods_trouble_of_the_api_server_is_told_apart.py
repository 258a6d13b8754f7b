"""S22: what the API server answers to a pod decides whether to wait, to try again, or to fail."""

from __future__ import annotations

import anyio
import pytest
from aiohttp import web

from engine.adapters.kubernetes.naming import GROUP, KEY, written
from engine.model.errors import ErrorKind
from engine.ports.taskrunner import ExitReason
from tests.contract.clusterworld import World, ask, first, name
from tests.fakeapi import refusal, verb_of
from tests.podworld import key

QUOTA = 'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=9, limited: pods=9'


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (422, "BadTaskFormat", ErrorKind.USER),
        (400, "BadTaskFormat", ErrorKind.USER),
        (413, "EntityTooLarge", ErrorKind.USER),
        (403, "RuntimeFailure", ErrorKind.SYSTEM),
        (404, "RuntimeFailure", ErrorKind.SYSTEM),
    ],
)
async def test_what_will_not_change_fails_at_once(world: World, status: int, code: str, kind: ErrorKind) -> None:
    world.api.trouble.append(first(9, "POST", lambda: refusal(status, "R", "spec.x is wrong")))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        problem = await world.refusal()
    assert (problem.failure.code, problem.failure.kind, problem.recoverable) == (code, kind, False)
    assert "spec.x is wrong" in problem.failure.message
    assert world.count("POST") == 1


async def test_what_passes_is_tried_again(world: World) -> None:
    world.api.trouble.append(first(1, "POST", lambda: refusal(500)))
    world.api.trouble.append(first(1, "POST", lambda: refusal(409, "Conflict", "on resourcequotas")))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        tasks.cancel_scope.cancel()
    assert world.count("POST") == 3


async def test_trouble_that_does_not_end_is_a_system_failure(world: World) -> None:
    world.api.trouble.append(first(99, "POST", lambda: refusal(500, "InternalError", "failed calling webhook")))
    async with world.runner(trouble_seconds=1) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.seen("POST", 2)
        assert runner.notes.of[key()] == "its pod to be made: 500 InternalError: failed calling webhook"
        problem = await world.refusal()
        assert runner.notes.of == {}
    assert (problem.failure.code, problem.failure.kind, problem.recoverable) == (
        "RuntimeFailure",
        ErrorKind.SYSTEM,
        True,
    )
    assert "(kubernetes.trouble_seconds is 1); the last try: 500 InternalError: failed" in problem.failure.message
    assert 2 < world.count("POST") < 9


async def test_an_attempt_that_had_begun_is_not_given_up(world: World) -> None:
    """Its pod may be at work: that the server can't say so just now is no reason to start another."""
    world.api.trouble.append(first(3, "GET", lambda: refusal(500, "InternalError", "etcd has no leader")))
    async with world.runner(trouble_seconds=0.1) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask(begun=True))
        assert (await world.end()).reason is ExitReason.LOST
    assert world.count("GET") == 4
    assert world.count("POST") == 0


async def test_an_attempt_after_one_that_was_given_up_is_alone(world: World) -> None:
    """The last call, whose reply was lost, has made its pod all the same, and no watch has told of it yet."""
    given_up, second = key(), key(attempt=1)
    world.api.trouble.append(first(3, "POST", lambda: refusal(504, "Timeout", "it took too long")))
    async with world.runner(trouble_seconds=0.1) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.refusal()
        late = {"name": name(given_up), "uid": "late", "labels": {GROUP: "propwash"}}
        late["annotations"] = {KEY: written(given_up), "primary_container_name": "main"}
        world.api.pods[name(given_up)] = {"metadata": late, "status": {"phase": "Running"}}
        beside: list[list[str]] = []
        world.api.kubelet = lambda pod: beside.append(list(world.api.pods))
        before = len(world.api.calls)
        world.api.trouble.clear()
        tasks.start_soon(world.run, runner, ask(second))
        await world.seen("DELETE", 1)
        await world.seen("POST", world.count("POST") + 1)
        assert [it for it in world.api.calls[before:] if it in ("GET", "DELETE", "POST")] == ["GET", "DELETE", "POST"]
        await world.until(lambda: bool(beside))
        assert beside == [[name(second)]]
        tasks.cancel_scope.cancel()


async def test_the_server_says_for_how_long(world: World) -> None:
    world.api.trouble.append(first(1, "POST", lambda: refusal(429, "TooManyRequests", **{"Retry-After": "2"})))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        began = anyio.current_time()
        tasks.start_soon(world.run, runner, ask())
        tasks.start_soon(world.run, runner, ask(key("n1")))
        await world.until(lambda: len(world.started) == 2)
        assert anyio.current_time() - began >= 2
        tasks.cancel_scope.cancel()
    assert world.count("POST") == 3


async def test_a_quota_is_waited_for_by_one_and_told(world: World) -> None:
    """A hundred pods over the quota ask as seldom as one; when a pod goes, the next one is let in."""
    full = [True]
    other = key("n0", 7)

    async def quota(call: web.Request) -> web.StreamResponse | None:
        return refusal(403, "Forbidden", QUOTA) if full[0] and verb_of(call) == "POST" else None

    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask(other))
        await world.until(lambda: world.started == [other])
        world.api.trouble.append(quota)
        keys = [key(f"n{number}") for number in range(100)]
        for it in keys:
            tasks.start_soon(world.run, runner, ask(it))
        await world.seen("POST", 2)
        with anyio.move_on_after(1.0):
            await world.seen("POST", 150, 60)
        asked = world.count("POST")
        assert asked <= 1 + 32 + 2
        assert "exceeded quota: q" in runner.notes.of[keys[0]]
        full[0] = False
        world.api.drop(name(other))
        await world.until(lambda: len(world.started) == 101)
        assert runner.notes.of == {}
        tasks.cancel_scope.cancel()


async def test_a_server_that_lets_nobody_watch_is_told_at_once(world: World) -> None:
    world.api.trouble.append(first(99, "LIST", lambda: refusal(403, "Forbidden", "cannot list resource pods")))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        problem = await world.refusal()
    assert problem.failure.kind is ErrorKind.SYSTEM
    assert "/api/v1/namespaces/p-d/pods can't be watched" in problem.failure.message
    assert "cannot list resource pods" in problem.failure.message


async def test_a_new_token_is_used_when_the_old_one_is_refused(world: World) -> None:
    """The file with the login changes while the engine runs."""
    config = anyio.Path(world.kubeconfig)
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        refused: list[str] = []

        async def strict(call: web.Request) -> web.StreamResponse | None:
            given = call.headers["Authorization"]
            if given == "Bearer new":
                return None
            refused.append(given)
            return refusal(401, "Unauthorized")

        await config.write_text((await config.read_text()).replace('"token": "t"', '"token": "new"'))
        world.api.trouble.append(strict)
        other = key("n1")
        tasks.start_soon(world.run, runner, ask(other))
        await world.until(lambda: other in world.started)
        assert refused == ["Bearer t"]
        tasks.cancel_scope.cancel()
