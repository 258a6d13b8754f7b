"""An engine says at its start what is wrong with its clusters; one that is only away is waited for and told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from engine.adapters.kubernetes.access import Login, log_in
from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.model.errors import BadInput
from tests.contract.clusterworld import World, ask, first
from tests.fakeapi import refusal
from tests.podworld import key


async def nothing(uri: str, data: bytes) -> None:
    raise AssertionError(f"nothing is to be stored: {uri}")


async def refused(kubeconfig: str | None, **cluster: object) -> str:
    options = ClusterOptions(kubeconfig=kubeconfig, **cluster)  # type: ignore[arg-type]
    with pytest.raises(BadInput) as caught:
        async with PodRunner(options, PodOptions(), put=nothing):
            raise AssertionError("it has started")
    return str(caught.value)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


async def test_a_file_that_is_not_there() -> None:
    assert await refused("/no/such/file") == (
        "kubernetes.kubeconfig: there is no kubeconfig /no/such/file; expected a file with clusters and users, as "
        "kubectl reads it; nothing was started"
    )


async def test_no_file_at_all(bare: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = await refused(None)
    assert said.startswith(
        "kubernetes.kubeconfig is null, KUBECONFIG is not set, and this is no pod of a cluster: there is"
    )
    assert f"{tmp_path}/.kube/config" in said
    monkeypatch.setenv("KUBECONFIG", "/a/b:/c")
    assert (await refused(None)).startswith("KUBECONFIG: there is no kubeconfig /a/b:/c; expected")


async def test_a_context_that_is_not_in_the_file(world: World) -> None:
    known = f"kubeconfig {world.kubeconfig} has no context 'typo'; expected one of c; nothing was started"
    assert await refused(world.kubeconfig, context="typo") == f"kubernetes.context: {known}"
    by_place = await refused(world.kubeconfig, contexts={"p:d": "typo"})
    assert by_place == f"kubernetes.contexts, of p:d: {known}"


@pytest.mark.parametrize(
    "text", ["", "[]", "hello", "a: [", '{"kind": "Config", "contexts": [], "current-context": "x"}']
)
async def test_a_file_that_is_no_kubeconfig(text: str, tmp_path: Path) -> None:
    path = anyio.Path(tmp_path / "config")
    await path.write_text(text)
    said = await refused(str(path))
    assert said.startswith(f"the current context of kubeconfig {path} can't be used: ")
    assert said.endswith("expected a file with clusters and users; nothing was started")


async def test_a_file_without_a_current_context_names_those_there_are(world: World) -> None:
    path = anyio.Path(world.kubeconfig)
    config = json.loads(await path.read_text())
    del config["current-context"]
    await path.write_text(json.dumps(config))
    assert "with one of the contexts c" in await refused(world.kubeconfig)
    assert (await log_in(Login(world.kubeconfig, "c"))).url == world.api.url


NAME = "of the current context of kubeconfig"


@pytest.mark.parametrize(
    ("verb", "status", "message", "cluster", "expected"),
    [
        ("GREET", 401, "Unauthorized", {}, "does not take its credentials: 401 Unauthorized; expected a token"),
        (
            "GREET",
            403,
            'User "system:anonymous" cannot get path "/api"',
            {},
            'does not let its user see pods: 403 User "system:anonymous"',
        ),
        (
            "LIST",
            403,
            'User "u" cannot list resource "pods"',
            {"namespace": "fixed"},
            'does not let its user see pods: 403 User "u" cannot list',
        ),
    ],
)
async def test_a_server_that_refuses(
    world: World, verb: str, status: int, message: str, cluster: Mapping[str, str], expected: str
) -> None:
    world.api.trouble.append(first(9, verb, lambda: refusal(status, "R", message)))
    said = await refused(world.kubeconfig, **cluster)
    assert said.startswith(f"the API server {world.api.url} {NAME} {world.kubeconfig} {expected}")
    assert said.endswith("nothing was started")


async def test_a_user_who_may_not_see_what_no_engine_needs_is_taken(world: World) -> None:
    world.api.trouble.append(first(9, "GREET", lambda: refusal(403, "Forbidden", 'User "u" cannot get path "/api"')))
    async with world.runner() as runner:
        assert runner.trouble() == ""


async def test_a_server_that_is_away_is_waited_for_and_told(world: World, caplog: pytest.LogCaptureFixture) -> None:
    for verb, times in (("GREET", 2), ("LIST", 1)):
        world.api.trouble.append(first(times, verb, lambda: refusal(503, "ServiceUnavailable", "it is shutting down")))
    async with world.runner() as runner, anyio.create_task_group() as tasks:
        assert runner.trouble() == (
            f"the API server {world.api.url} {NAME} {world.kubeconfig} can't be used yet: "
            "503 ServiceUnavailable: it is shutting down"
        )
        tasks.start_soon(world.run, runner, ask())
        await world.seen("LIST", 1)
        await world.until(lambda: bool(world.stored))
        (note,) = world.stored.values()
        assert note == b"its cluster to answer: 503 ServiceUnavailable: it is shutting down"
        await world.until(lambda: world.started == [key()])
        await world.seen("GREET", 3)
        with anyio.fail_after(20):
            while runner.trouble():  # the answer is on its way
                await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert [it.message for it in caplog.records if "cluster" in it.message] == [
        "a cluster can't be used yet, will try again",
        "a cluster can be used now",
    ]


async def test_a_server_that_does_not_exist_is_no_reason_not_to_start(world: World) -> None:
    path = anyio.Path(world.kubeconfig)
    await path.write_text((await path.read_text()).replace(world.api.url, "http://127.0.0.1:9"))
    async with world.runner() as runner:
        assert "the API server http://127.0.0.1:9 of" in runner.trouble()
        assert "can't be used yet: ClientConnectorError" in runner.trouble()
