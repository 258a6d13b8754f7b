"""The whole path: the command, the state machine, pods on a real API server, flytekit in them, files, verdicts."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio
import pytest
import yaml
from anyio import to_thread

from tests.clusters import Space, engine_context, phases, space
from tests.contract.s3_world import Place
from tests.service.command import WORKFLOWS, Done, Propwash, endings

__all__ = ["endings"]
pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]


WORD = "ho $$ $(PATH) $$(PATH) $"
"""An input that Kubernetes would make something else of."""


class Cluster:
    """The command, with an engine whose tasks are pods of a namespace of the test's own."""

    def __init__(self, at: Space, folder: Path) -> None:
        self.at, self.propwash = at, Propwash(folder)
        context = engine_context(at)
        self.settings = [
            "tasks.runner=kubernetes",
            f"kubernetes.kubeconfig={at.kubeconfig}",
            f"kubernetes.namespace={at.name}",
            "pods.shared_folders=true",
            *([f"kubernetes.context={context}"] if context else []),
        ]

    async def run(self, *words: str, sets: tuple[str, ...] = ()) -> Done:
        given = [word for setting in (*self.settings, *sets) for word in ("--set", setting)]
        words = ("run", "--home", str(self.propwash.home), "--json", *given, *words)
        return await to_thread.run_sync(lambda: self.propwash(*words))


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with space() as at:
        yield Cluster(at, tmp_path)


async def test_a_chain(cluster: Cluster) -> None:
    done = await cluster.run(str(WORKFLOWS / "chain.py"), "chain", "--n", "3")
    assert done.code == 0, done.err
    pods = await cluster.at.pods()
    assert done.document["outputs"] == {"total": 17, "text": "n=17"}
    assert {pod["status"]["phase"] for pod in pods.values()} == {"Succeeded"}
    labels = [pod["metadata"]["labels"] for pod in pods.values()]
    assert sorted(each["node-id"] for each in labels) == ["n0", "n2", "n3", "n4", "second-step"]
    assert {each["workflow-name"] for each in labels} == {"chain.chain"}
    logs = await to_thread.run_sync(lambda: cluster.propwash("logs", done.document["execution"]["name"], "n3"))
    assert "three" in logs.out


@pytest.fixture
async def pipe(tmp_path: Path) -> anyio.Path:
    """A task opens it, says `before`, and waits until it is closed again by whoever opens it for writing."""
    path = anyio.Path(tmp_path / "gate")
    await to_thread.run_sync(os.mkfifo, path)
    return path


async def logs_of(cluster: Cluster, *options: str) -> Done:
    return await to_thread.run_sync(partial(cluster.propwash, "logs", "e1", "n0", *options))


async def test_a_pod_that_runs_shows_what_it_has_printed(cluster: Cluster, endings: str, pipe: anyio.Path) -> None:
    words = ("--name", "e1", "--code-root", endings, endings, "talks_then_waits", "--path", str(pipe))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(cluster.run, *words))
        async with await pipe.open("w"):
            await cluster.at.until(lambda pods: [*phases(pods).values()] == ["Running"])
            done = await logs_of(cluster)
            assert (done.code, done.err) == (0, "")
            assert done.out == "before\n"
            assert (await logs_of(cluster, "--stderr")).out == ""
    assert (await logs_of(cluster)).out == "before\nafter\n"


async def test_it_does_without_an_engine_by_the_settings(cluster: Cluster, endings: str, pipe: anyio.Path) -> None:
    given = [word for setting in cluster.settings for word in ("--set", setting)]
    words = ("--name", "e1", "--code-root", endings, *given, endings, "talks_then_waits", "--path", str(pipe))
    with cluster.propwash.started("run", *words) as engine:
        async with await pipe.open("w"):
            await cluster.at.until(lambda pods: [*phases(pods).values()] == ["Running"])
            engine.kill()
            await to_thread.run_sync(engine.wait)
            done = await logs_of(cluster)
            assert (done.code, done.out) == (0, "")
            assert "; a pod's is read by the engine on a home, or with the settings of its cluster" in done.err
            done = await logs_of(cluster, *given)
            assert (done.code, done.err, done.out) == (0, "", "before\n")
            wrong = await logs_of(cluster, *given, "--set", "kubernetes.kubeconfig=/no/such/file")
            assert (wrong.code, wrong.out) == (2, "")
            assert "there is no kubeconfig /no/such/file" in wrong.err


async def test_a_map_a_failure_and_what_they_leave(cluster: Cluster) -> None:
    done = await cluster.run(str(WORKFLOWS / "failing.py"), "wf_raises", "--n", "3", sets=("pods.keep_failed=0",))
    assert done.code == 1
    assert "boom 3" in done.document["error"]["message"]


async def test_a_raw_container_finds_and_leaves_files(cluster: Cluster, tmp_path: Path) -> None:
    """The kubelet of the tests has no volumes, so the paths are this machine's."""
    folder = tmp_path / "data"
    text = (WORKFLOWS / "contained.py").read_text().replace("/var/inputs", f"{folder}/in")
    # It has no probes either, so the container is slower than what stores its outputs.
    text = text.replace("'echo $((", "'sleep 3; echo $((")
    (tmp_path / "contained.py").write_text(text.replace("/var/outputs", f"{folder}/out"))
    done = await cluster.run("contained.py", "doubles", "--n", "21", "--word", WORD, sets=("pods.engine_image=tests",))
    assert done.code == 0, done.err + done.out
    assert done.document["outputs"] == {"o0": 42, "o1": WORD}


@pytest.mark.service("s3")
async def test_registered_sources_are_fetched_from_s3(tmp_path: Path) -> None:
    """As in production: no folder is shared, so modules and values come from the store."""
    place = Place.found()
    async with space() as at:
        propwash = Propwash(tmp_path)
        settings = {
            "tasks": {"runner": "kubernetes"},
            "kubernetes": {"kubeconfig": str(at.kubeconfig), "namespace": at.name, "context": engine_context(at)},
            "store": {"uri": place.fresh()},
            "s3": {"endpoint": place.endpoint},
            "pods": {"env": dict(place.environ)},
        }
        (tmp_path / "settings.yaml").write_text(yaml.safe_dump(settings))
        (tmp_path / "chain.py").write_text((WORKFLOWS / "chain.py").read_text())
        words = ("--config", "settings.yaml", "--json")

        def command(*said: str) -> Done:
            return propwash(*said, *words, environ=place.environ)

        registered = await to_thread.run_sync(command, "register", "chain.py", "--version", "v1")
        assert registered.code == 0, registered.err
        done = await to_thread.run_sync(command, "submit", "chain.chain", "--input", "n=3")
        assert done.code == 0, done.err + done.out
        assert done.document["outputs"] == {"total": 17, "text": "n=17"}
        pod = next(iter((await at.pods()).values()))
        assert pod["spec"]["containers"][0]["args"][0] == "pyflyte-fast-execute"
