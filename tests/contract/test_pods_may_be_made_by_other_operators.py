"""Tasks of a type that a custom resource stands for: made, watched and removed like pods."""

from __future__ import annotations

import json
from typing import Any

import anyio
from msgspec import structs

from engine.adapters.kubernetes.custom import Rule
from engine.model.ids import AttemptKey
from engine.model.podneeds import PodNeeds
from engine.ports.taskrunner import ExitReason, TaskRequest
from tests.contract.clusterworld import World, ask, name
from tests.podworld import TASK, key

RULE = Rule(
    json.dumps(
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "spec": {"workers": "{{ custom.workers }}", "gone": "{{ custom.no.such }}", "template": "{{ pod }}"},
        }
    ).encode(),
    "pytorchjobs",
    "status.conditions[type=Succeeded].status=True",
    "status.conditions[type=Failed].status=True",
    "status.conditions[type=Failed].message",
    "pytorch",
)
RULES = {"pytorch": RULE}


def training(at: AttemptKey | None = None, **other: Any) -> TaskRequest:
    return structs.replace(
        ask(at, **other),
        task=structs.replace(TASK, type="pytorch"),
        pod=PodNeeds(custom=b'{"workers": 3}', workflow="wf"),
    )


def conditions(**status: str) -> dict[str, Any]:
    return {"conditions": [{"type": type, "status": value, "message": "why"} for type, value in status.items()]}


async def test_it_is_made_from_the_rule_and_runs_when_its_operator_says_so(world: World) -> None:
    jobs = world.api.resources
    async with world.runner(rules=RULES) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, training())
        await world.seen_of(jobs, "POST", 1)
        job = jobs.pods[name()]
        template = job["spec"]["template"]
        assert (job["kind"], job["spec"]["workers"], "gone" in job["spec"]) == ("PyTorchJob", 3, False)
        assert [it["name"] for it in template["spec"]["containers"]] == ["pytorch"]
        assert template["metadata"]["labels"]["execution-id"] == "e"
        assert "propwash.dev/group" not in template["metadata"]["labels"]
        assert "propwash.dev/attempt" not in template["metadata"]["annotations"]
        assert job["metadata"]["labels"]["propwash.dev/group"] == "propwash"
        assert world.started == []
        jobs.set_status(name(), conditions(Running="True"))
        await world.until(lambda: world.started == [key()])
        jobs.set_status(name(), conditions(Running="False", Succeeded="True"))
        assert (await world.end()).reason is ExitReason.EXITED
        assert jobs.pods == {}
        assert world.api.pods == {}
        tasks.cancel_scope.cancel()


async def test_its_failure_is_told(world: World) -> None:
    jobs = world.api.resources
    async with world.runner(rules=RULES) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, training())
        await world.seen_of(jobs, "POST", 1)
        jobs.set_status(name(), conditions(Failed="True"))
        ended = await world.end()
        assert (ended.reason, ended.code) == (ExitReason.EXITED, 1)
        assert "has failed): why" in ended.message
        assert [*jobs.pods] == [name()]
        tasks.cancel_scope.cancel()


async def test_it_outlives_the_engine_and_is_stopped_by_the_next(world: World) -> None:
    jobs = world.api.resources
    async with world.runner(rules=RULES) as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(world.run, runner, training())
        await world.seen_of(jobs, "POST", 1)
        jobs.set_status(name(), conditions(Running="True"))
        await world.until(lambda: world.started == [key()])
        tasks.cancel_scope.cancel()
    async with world.runner(rules=RULES) as runner, anyio.create_task_group() as tasks:
        world.started.clear()
        tasks.start_soon(world.run, runner, training(begun=True))
        await world.until(lambda: world.started == [key()])
        assert jobs.calls.count("POST") == 1
        tasks.cancel_scope.cancel()
    async with world.runner(rules=RULES) as runner:
        await runner.stop(key())
    assert jobs.pods == {}
