"""A misspelt field of an author's pod would be dropped without a word: the API server is asked not to."""

from __future__ import annotations

import json

import anyio
import pytest

from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.model.errors import ErrorKind, Permanent
from engine.model.podneeds import PodNeeds
from tests.clusters import engine_context, space
from tests.podworld import request

pytestmark = pytest.mark.service("kubernetes")


async def nothing(uri: str, data: bytes) -> None:
    raise AssertionError(f"nothing is to be stored: {uri}")


async def test_the_node_fails_at_once_and_the_field_is_named() -> None:
    pod = {"containers": [{"name": "main", "resorces": {}}], "tolerationz": []}
    async with space() as at:
        options = ClusterOptions(str(at.kubeconfig), engine_context(at), namespace=at.name)
        async with PodRunner(options, PodOptions(), put=nothing) as runner:
            needs = PodNeeds(json.dumps(pod).encode(), "main")
            with anyio.fail_after(30), pytest.raises(Permanent) as caught:
                await runner.run(request("true", needs=needs), lambda: None)
        assert await at.pods() == {}
    failure = caught.value.failure
    assert (failure.code, failure.kind, caught.value.recoverable) == ("BadTaskFormat", ErrorKind.USER, False)
    assert 'unknown field "spec.containers[0].resorces"' in failure.message
    assert 'unknown field "spec.tolerationz"' in failure.message
