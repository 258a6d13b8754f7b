"""`propwash serve` on Kafka, S3 and Kubernetes: whoever owns the partition finds the pods of whoever had it before."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest
import yaml
from anyio import to_thread

from tests.clusters import Pods, Space, engine_context, phases, space
from tests.service.kafka_service import Operator, ends
from tests.service.test_the_http_api_does_what_commands_do import one

pytestmark = [pytest.mark.service(name) for name in ("flytekit", "kafka", "s3", "kubernetes")]


def with_pods(operator: Operator, at: Space) -> None:
    """Settings and credentials, as an operator gives them."""
    settings = yaml.safe_load(operator.config.read_text())
    settings |= {
        "tasks": {"runner": "kubernetes"},
        "kubernetes": {"kubeconfig": str(at.kubeconfig), "namespace": at.name, "context": engine_context(at)},
        "pods": {"env": dict(operator.place.environ)},
    }
    operator.config.write_text(yaml.safe_dump(settings))


def started(pods: Pods) -> bool:
    return "Running" in phases(pods).values()


async def test_a_killed_process_leaves_its_pod_to_another(tmp_path: Path) -> None:
    """The task's modules were registered from another folder than the processes have, so its pod fetches them."""
    async with space() as at:
        operator = Operator(tmp_path, session_seconds=6.0)
        with_pods(operator, at)
        await to_thread.run_sync(operator.register, "endings.py")
        with operator.serving("one") as first:
            asked = {"entity": "doubled", "name": "first", "inputs": {"n": 4}}
            status, told = await to_thread.run_sync(first.call, "POST", "/executions", asked)
            assert status == 201, told
            before = await at.until(started)
            first.process.kill()
            with operator.serving("two") as second:
                assert await to_thread.run_sync(ends, second.call, "first") == "SUCCEEDED"
                _, document = await to_thread.run_sync(second.call, "GET", one("first"))
        assert document["outputs"] == {"o0": 8}
        after = await at.pods()
        assert {name: pod["metadata"]["uid"] for name, pod in after.items()} == {
            name: pod["metadata"]["uid"] for name, pod in before.items()
        }
        assert {pod["metadata"]["labels"]["propwash.dev/group"] for pod in after.values()} == {operator.name}


async def test_logs_reads_a_pod_that_runs(tmp_path: Path) -> None:
    pipe = anyio.Path(tmp_path / "gate")
    await to_thread.run_sync(os.mkfifo, pipe)
    async with space() as at:
        operator = Operator(tmp_path, session_seconds=6.0)
        with_pods(operator, at)
        await to_thread.run_sync(operator.register, "endings.py")
        with operator.serving("one") as served:
            asked = {"entity": "talks_then_waits", "name": "first", "inputs": {"path": str(pipe)}}
            status, told = await to_thread.run_sync(served.call, "POST", "/executions", asked)
            assert status == 201, told
            async with await pipe.open("w"):
                await at.until(started)
                words = ("logs", "first", "n0", "--config", str(operator.config))
                done = await to_thread.run_sync(lambda: operator.propwash(*words, environ=operator.place.environ))
                assert (done.code, done.err, done.out) == (0, "", "before\n")
            assert await to_thread.run_sync(ends, served.call, "first") == "SUCCEEDED"
