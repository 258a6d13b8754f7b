"""A real workflow through `propwash serve` on Kafka and S3, submitted and awaited by a program in two lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from config.load import load
from config.settings import Settings
from engine.client.connecting import Rejected, connect
from engine.model.phases import ExecutionPhase
from tests.service.kafka_service import Operator

pytestmark = [
    pytest.mark.service("flytekit"),
    pytest.mark.service("kafka"),
    pytest.mark.service("s3"),
    pytest.mark.timeout(240),
]
PATIENCE_SECONDS = 200.0


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Those of a service that works."""
    operator = Operator(tmp_path)
    for name, value in operator.place.environ.items():
        monkeypatch.setenv(name, value)
    operator.register("endings.py")
    with operator.serving("home"):
        yield load(operator.config, [], {})


async def test_two_lines(settings: Settings) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with connect(settings) as client:
            ended = await client.wait(await client.submit("doubled:v1", {"n": 21}))
            assert (ended.phase, await client.outputs(ended)) == (ExecutionPhase.SUCCEEDED, {"o0": 42})

            with pytest.raises(Rejected, match=r"inputs\.n: expected int, got \"x\""):
                await client.wait(await client.submit("doubled", {"n": "x"}))
            same = [await client.wait(await client.submit("doubled:v1", {"n": 3}, name="twice")) for _ in range(2)]
            assert same[0] == same[1]
            facts = [fact async for fact in client.follow(same[0].execution)]
            assert [fact.sequence for fact in facts] == [*range(1, len(facts) + 1)]
