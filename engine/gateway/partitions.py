"""What Prometheus is told of the partitions of the events that a process owns, read off at a scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector


class Standing(Struct, frozen=True):
    """How a process does in its group."""

    rebalances: int
    lost: int
    """Partitions that had to be let go because of trouble, or because somebody else had them already."""
    restoring: int
    """Partitions that are not taken up yet."""
    lags: Mapping[int, int]
    """Of the others, the events that wait."""


class PartitionGauges(Collector):
    def __init__(self, ask: Callable[[], Standing]) -> None:
        self._ask = ask

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        now = self._ask()
        owned = GaugeMetricFamily("propwash_partitions", "Partitions that this process owns.", labels=["state"])
        owned.add_metric(["working"], len(now.lags))
        owned.add_metric(["restoring"], now.restoring)
        yield owned
        lag = GaugeMetricFamily("propwash_partition_lag", "Events that wait in a partition.", labels=["partition"])
        for partition, count in sorted(now.lags.items()):
            lag.add_metric([str(partition)], count)
        yield lag
        yield CounterMetricFamily("propwash_rebalances", "Times that partitions were assigned.", now.rebalances)
        yield CounterMetricFamily("propwash_partitions_lost", "Partitions that had to be let go.", now.lost)
