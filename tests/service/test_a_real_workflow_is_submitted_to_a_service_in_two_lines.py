"""A real workflow through `propwash serve` on Kafka and S3, submitted and awaited by a program in two lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from config.load import load
from config.settings import Settings
from engine.client.connecting import Rejected, connect
from engine.model.phases import ExecutionPhase
from tests.service.kafka_service import Operator
from tests.service.test_the_http_api_does_what_commands_do import Caller

pytestmark = [
    pytest.mark.service("flytekit"),
    pytest.mark.service("kafka"),
    pytest.mark.service("s3"),
    pytest.mark.timeout(240),
]
PATIENCE_SECONDS = 200.0


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Settings, Caller]]:
    """Its settings, and its HTTP API."""
    operator = Operator(tmp_path)
    for name, value in operator.place.environ.items():
        monkeypatch.setenv(name, value)
    operator.register("endings.py")
    with operator.serving("home") as served:
        yield load(operator.config, [], {}), served.call


async def test_two_lines(service: tuple[Settings, Caller]) -> None:
    settings, call = service
    with anyio.fail_after(PATIENCE_SECONDS):
        async with connect(settings) as client:
            ended = await client.wait(await client.submit("doubled:v1", {"n": 21}))
            assert (ended.phase, await client.outputs(ended)) == (ExecutionPhase.SUCCEEDED, {"o0": 42})

            with pytest.raises(Rejected, match=r"inputs\.n: expected int, got \"x\""):
                await client.wait(await client.submit("doubled", {"n": "x"}))
            same = [await client.wait(await client.submit("doubled:v1", {"n": 3}, name="twice")) for _ in range(2)]
            assert same[0] == same[1]
            other = {"entity": "doubled", "name": "twice", "inputs": {"n": 5}}
            status, told = await to_thread.run_sync(call, "POST", "/executions", other)
            assert (status, "exists already" in told["cause"]) == (400, True), told
            assert await client.outputs(same[0]) == {"o0": 6}
            facts = [fact async for fact in client.follow(same[0].execution)]
            assert [fact.sequence for fact in facts] == [*range(1, len(facts) + 1)]
