"""The kubelet that stands in for a real one: what it writes for each way in which a pod can go."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import pytest

from tests.backing.kubernetes.api import ApiError
from tests.backing.kubernetes.specs import Script
from tests.clusters import Document, Space, end_of, ended, phases, pod, space

pytestmark = pytest.mark.service("kubernetes")


@pytest.fixture
async def at() -> AsyncIterator[Space]:
    async with space() as made:
        yield made


async def finished(at: Space, asked: Document) -> Document:
    name = await at.run(asked)
    return (await at.until(ended))[name]


async def waiting(at: Space, asked: Document, reason: str) -> Document:
    """The state of the first container, once it waits for this reason."""
    name = await at.run(asked)

    def found(pods: dict[str, Document]) -> Document:
        statuses = pods[name]["status"].get("containerStatuses", [{"state": {}}]) if name in pods else [{"state": {}}]
        state: Document = statuses[0]["state"].get("waiting", {})
        return state

    return found(await at.until(lambda pods: found(dict(pods)).get("reason") == reason))


async def test_a_command_that_ends_well(at: Space) -> None:
    done = await finished(at, pod("well", "sh", "-c", "exit 0"))
    assert done["status"]["phase"] == "Succeeded"
    end = end_of(done)
    assert (end["exitCode"], end["reason"], "message" in end) == (0, "Completed", False)
    assert done["spec"]["nodeName"] == "amd64"
    assert done["status"]["startTime"] <= end["startedAt"] <= end["finishedAt"]


async def test_a_command_that_fails_leaves_its_last_lines(at: Space) -> None:
    done = await finished(at, pod("bad", "sh", "-c", "echo why >&2; exit 3"))
    assert done["status"]["phase"] == "Failed"
    assert (end_of(done)["exitCode"], end_of(done)["reason"], end_of(done)["message"]) == (3, "Error", "why\n")
    log = await at.text("bad")
    assert log == "why\n"


async def test_a_signal_is_128_more(at: Space) -> None:
    assert end_of(await finished(at, pod("killed", "sh", "-c", "kill -9 $$$$")))["exitCode"] == 137


async def test_a_program_that_is_not_there(at: Space) -> None:
    end = end_of(await finished(at, pod("none", "no-such-program")))
    assert (end["exitCode"], end["reason"]) == (128, "StartError")
    assert "no-such-program" in end["message"]


async def test_the_environment_is_what_the_pod_says(at: Space) -> None:
    secret = {"metadata": {"name": "s"}, "data": {"k": base64.b64encode(b"hidden").decode()}}
    await at.api.create(f"{at.path}/secrets", secret)
    asked = pod("env", "sh", "-c", 'echo "$A $B $C $(A) $D"; exit 1')
    asked["spec"]["containers"][0]["env"] = [
        {"name": "A", "value": "a"},
        {"name": "B", "value": "$(A)b$$"},
        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "D", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    assert end_of(await finished(at, asked))["message"] == "a ab$ env a hidden\n"


async def test_init_containers_come_first_and_sidecars_go_last(at: Space) -> None:
    order = at.folder / "order"
    asked = pod("all", "sh", "-c", f"echo main >> {order}")
    mark = ["sh", "-c", f"echo init >> {order}"]
    sidecar = f"trap 'echo sidecar >> {order}; exit 0' TERM; sleep 1000 & wait"
    asked["spec"]["initContainers"] = [
        {"name": "side", "image": "i", "command": ["sh", "-c", sidecar], "restartPolicy": "Always"},
        {"name": "first", "image": "i", "command": mark},
    ]
    assert (await finished(at, asked))["status"]["phase"] == "Succeeded"
    assert order.read_text().split()[:2] == ["init", "main"]


async def test_a_failed_init_container_is_the_end(at: Space) -> None:
    asked = pod("init", "sh", "-c", "exit 0")
    asked["spec"]["initContainers"] = [{"name": "first", "image": "i", "command": ["sh", "-c", "exit 2"]}]
    done = await finished(at, asked)
    assert done["status"]["phase"] == "Failed"
    assert done["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 2
    assert done["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "PodInitializing"


async def test_a_deleted_pod_has_its_grace(at: Space) -> None:
    ready = at.folder / "ready"
    os.mkfifo(ready)
    await at.run(pod("soft", "sh", "-c", f"trap 'exit 0' TERM; echo > {ready}; while :; do sleep 0.05; done"))
    await anyio.to_thread.run_sync(ready.read_text)
    await at.until(lambda pods: phases(pods) == {"soft": "Running"})
    last = await at.removed("soft", 30)
    assert "deletionTimestamp" in last["metadata"]
    assert end_of(last)["exitCode"] == 0


async def test_a_pod_that_heeds_nobody_is_killed(at: Space) -> None:
    ready = at.folder / "ready"
    os.mkfifo(ready)
    await at.run(pod("hard", "sh", "-c", f"trap '' TERM; echo > {ready}; while :; do sleep 0.05; done"))
    await anyio.to_thread.run_sync(ready.read_text)
    await at.until(lambda pods: phases(pods) == {"hard": "Running"})
    last = await at.removed("hard", 1)
    assert (last["status"]["phase"], end_of(last)["exitCode"]) == ("Failed", 137)


async def test_an_image_that_is_not_there(at: Space) -> None:
    state = await waiting(at, pod("image", "true", image="r/only-arm64:1"), "ImagePullBackOff")
    assert "no matching manifest for linux/amd64" in state["message"]


async def test_an_image_for_another_machine(at: Space) -> None:
    end = end_of(await finished(at, pod("other", "python", image="r/built-for-arm64:1")))
    assert (end["exitCode"], end["message"]) == (1, "exec python: exec format error\n")


async def test_a_secret_that_is_not_there(at: Space) -> None:
    asked = pod("lacks", "true")
    source = {"secretKeyRef": {"name": "nowhere", "key": "k"}}
    asked["spec"]["containers"][0]["env"] = [{"name": "A", "valueFrom": source}]
    assert (await waiting(at, asked, "CreateContainerConfigError"))["message"] == 'secret "nowhere" not found'


async def test_a_deadline(at: Space) -> None:
    done = await finished(at, pod("late", "sleep", "1000", spec={"activeDeadlineSeconds": 1}))
    assert (done["status"]["phase"], done["status"]["reason"]) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize(
    ("script", "phase", "reason", "code", "inner"),
    [
        (Script(), "Succeeded", None, 0, "Completed"),
        (Script(exit=137, reason="OOMKilled"), "Failed", None, 137, "OOMKilled"),
        (Script(exit=137, reason="Evicted", message="low on memory"), "Failed", "Evicted", 137, "Error"),
        (Script(waits="ImagePullBackOff", waits_seconds=0.1), "Succeeded", None, 0, "Completed"),
    ],
)
async def test_pods_that_are_played(
    at: Space, script: Script, phase: str, reason: str | None, code: int, inner: str
) -> None:
    done = await finished(at, pod("played", script=script))
    assert (done["status"]["phase"], done["status"].get("reason")) == (phase, reason)
    assert (end_of(done)["exitCode"], end_of(done)["reason"]) == (code, inner)
    disrupted = [each for each in done["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert bool(disrupted) == (reason == "Evicted")
    assert any(each["type"] == "PodScheduled" and each["status"] == "True" for each in done["status"]["conditions"])


async def test_the_engine_may_only_do_what_its_role_says(at: Space) -> None:
    async with at.as_engine() as api:
        assert (await api.get(f"{at.path}/pods"))["items"] == []
        with pytest.raises(ApiError, match="403"):
            await api.get(f"{at.path}/secrets")
