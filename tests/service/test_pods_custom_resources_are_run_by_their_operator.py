"""A custom resource on a real API server; the test is its operator."""

from __future__ import annotations

import json
import uuid
from contextlib import suppress

import anyio
import msgspec
import pytest
from msgspec import structs

from engine.adapters.kubernetes.custom import Rule
from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.adapters.memory.blobs import MemoryBlobs
from engine.model.podneeds import PodNeeds
from engine.ports.taskrunner import Exit, ExitReason
from tests.backing.kubernetes.api import ApiError
from tests.clusters import LIMIT_SECONDS, Document, Space, space
from tests.podworld import TASK, request

pytestmark = pytest.mark.service("kubernetes")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definition(plural: str, group: str) -> Document:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "singular": plural[:-1], "kind": "Job", "listKind": "JobList"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": spec}


async def established(at: Space, name: str) -> None:
    with anyio.fail_after(LIMIT_SECONDS):
        async for event in at.api.watch(DEFINITIONS, fieldSelector=f"metadata.name={name}"):
            conditions = json.loads(bytes(event.object)).get("status", {}).get("conditions") or []
            if any(it["type"] == "Established" and it["status"] == "True" for it in conditions):
                return


async def test_it_runs_succeeds_and_goes() -> None:
    group = f"t{uuid.uuid4().hex[:6]}.propwash.dev"
    template = {"apiVersion": f"{group}/v1", "kind": "Job", "spec": {"n": "{{ custom.n }}", "pod": "{{ pod }}"}}
    rule = Rule(json.dumps(template).encode(), "jobs", "status.state=DONE", "status.state=FAILED", "status.why")
    async with space() as at:
        await at.api.create(DEFINITIONS, definition("jobs", group))
        try:
            await established(at, f"jobs.{group}")
            await run_one(at, rule)
        finally:
            with anyio.CancelScope(shield=True):
                await at.api.delete(f"{DEFINITIONS}/jobs.{group}")


async def first(at: Space, path: str) -> Document:
    """The first object that is made there. A new kind of objects is out of order for a moment (429)."""
    while True:
        with suppress(ApiError):
            async for event in at.api.watch(path):
                if event.type == "ADDED":
                    return msgspec.json.decode(event.object, type=Document)


async def run_one(at: Space, rule: Rule) -> None:
    path = rule.path(at.name)
    asked = structs.replace(
        request("run", needs=PodNeeds(custom=b'{"n": 3}')), task=structs.replace(TASK, type="job"), image="tests"
    )
    ends: list[Exit] = []
    started = anyio.Event()
    options = ClusterOptions(kubeconfig=str(at.kubeconfig), namespace=at.name)
    async with PodRunner(options, PodOptions(), put=MemoryBlobs().put, rules={"job": rule}) as runner:

        async def attempt() -> None:
            ends.append(await runner.run(asked, started.set))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attempt)
            with anyio.fail_after(LIMIT_SECONDS):
                made = await first(at, path)
                assert made["spec"]["n"] == 3
                assert made["spec"]["pod"]["spec"]["containers"][0]["image"] == "tests"
                name = f"{path}/{made['metadata']['name']}"
                await at.api.patch(name, {"status": {"state": "RUNNING"}})
                await started.wait()
                await at.api.patch(name, {"status": {"state": "DONE"}})
    assert [it.reason for it in ends] == [ExitReason.EXITED]
    assert (await at.api.get(path))["items"] == []
    assert await at.pods() == {}
