"""What a pod has printed so far is read through the API server, where there is such a pod."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kubernetes.looking import look
from engine.adapters.kubernetes.naming import KEY, written
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.model.errors import Transient
from engine.model.ids import AttemptKey
from tests.contract.clusterworld import World, ask, first, name
from tests.fakeapi import refusal
from tests.podworld import RUNNING, key


async def printed(runner: PodRunner, at: AttemptKey | None = None) -> bytes:
    return b"".join([piece async for piece in runner.printed(at or key())])


async def test_it_is_shown_while_the_pod_runs(world: World) -> None:
    world.api.kubelet = lambda pod: None
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        assert await printed(runner) == b""
        assert world.api.calls == ["GREET"], "a namespace where nothing has been run is not looked at"
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: bool(world.stored))  # its note: the pod is known, and has not begun
        assert await printed(runner) == b"", "it waits to start"
        world.api.status(name(), "Running", RUNNING)
        await world.until(lambda: world.started == [key()])
        primary = world.api.pods[name()]["metadata"]["annotations"]["primary_container_name"]
        assert await printed(runner) == f"printed by {primary}".encode()
        assert await printed(runner, key(attempt=1)) == b""
        assert world.count("LOG") == 2
        tasks.cancel_scope.cancel()


async def test_trouble_is_told(world: World) -> None:
    world.api.trouble.append(first(9, "LOG", lambda: refusal(500, "InternalError", "no route to node")))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        with pytest.raises(Transient, match=f"what pod {name()} has printed can't be read: 500 InternalError: no"):
            await printed(runner)
        tasks.cancel_scope.cancel()


async def test_whoever_watches_nothing_may_look_once(world: World) -> None:
    options = ClusterOptions(world.kubeconfig)

    async def seen(at: AttemptKey | None = None) -> bytes:
        return b"".join([piece async for piece in look(options, at or key())])

    assert await seen() == b""
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, ask())
        await world.until(lambda: world.started == [key()])
        assert (await seen()).startswith(b"printed by ")
        assert await seen(key("n1")) == b""
        world.api.annotate(name(), **{KEY: written(key("n2"))})
        assert await seen() == b"", "it is another's"
        world.api.trouble.append(first(1, "GET", lambda: refusal(403, "Forbidden", "cannot get pods")))
        with pytest.raises(
            Transient, match=r"can't be looked at: the current context of .*: 403 Forbidden: cannot get"
        ):
            await seen()
        tasks.cancel_scope.cancel()
