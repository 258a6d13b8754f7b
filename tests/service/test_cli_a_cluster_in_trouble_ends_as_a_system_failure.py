"""S22: an API server that answers every new pod with 500: `get` says what is waited for, and then the node fails."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.contract.clusterworld import first
from tests.fakeapi import FakeApi, refusal
from tests.service.command import Done, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")

SAID = "500 InternalError: failed calling webhook"


async def test_it_is_told_and_ends(propwash: Propwash, endings: str, tmp_path: Path) -> None:
    done: list[Done] = []

    async with FakeApi.serving(tmp_path) as (api, kubeconfig), anyio.create_task_group() as tasks:
        api.trouble.append(first(999, "POST", lambda: refusal(500, "InternalError", "failed calling webhook")))
        given = {"tasks.runner": "kubernetes", "pods.shared_folders": "true", "kubernetes.kubeconfig": kubeconfig}
        given |= {"kubernetes.trouble_seconds": "4", "retries.max_system_failures": "1"}
        words = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]

        async def run() -> None:
            call = partial(propwash, "run", "--json", "--name", "x", *words, endings, "even", "--n", "2")
            done.append(await to_thread.run_sync(call))

        tasks.start_soon(run)
        with anyio.fail_after(60):
            while not api.calls.count("POST"):
                await api.called()
            shown = ""
            while f"its pod to be made: {SAID}" not in shown:
                assert not done, done
                shown = (await to_thread.run_sync(propwash, "get", "x")).out
    error = done[0].document["error"]
    assert done[0].code == 1
    assert (error["code"], error["kind"], error["node"]) == ("RetriesExhausted|RuntimeFailure", "SYSTEM", "n0")
    assert "[2/2] attempts done. Last error: SYSTEM::its pod could not be made" in error["message"]
    assert SAID in error["message"]
