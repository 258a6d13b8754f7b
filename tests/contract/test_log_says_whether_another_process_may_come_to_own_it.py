"""On such a log nothing may be done about a decision before its commit: whoever owns it next may decide otherwise."""

from __future__ import annotations

from engine.adapters.kafka.log import KafkaLog
from tests.contract.log_adapters import LogWorld


async def test_an_owner_on_kafka_may_be_fenced_and_a_home_is_locked(log_world: LogWorld) -> None:
    assert log_world.log.shared is isinstance(log_world.log, KafkaLog)
