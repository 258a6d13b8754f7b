"""What Prometheus is told of an engine: counters that grow here, and gauges that are read off the states at a scrape.

No label holds the name of an execution, a node, a task or an error code: each has a small, known set of values.
docs/operations.md says what each metric means.
"""

from __future__ import annotations

import time
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from engine.gateway.gauges import StateGauges
from engine.gateway.metered_runner import MeteredRunner
from engine.gateway.metered_store import MeteredBlobs, StoreCounts
from engine.gateway.partitions import PartitionGauges, Standing
from engine.gateway.transitions import Transitions
from engine.loop.meter import Outcome
from engine.loop.residents import Residents
from engine.model.effects import Effect, GatherOutputs
from engine.model.events import AttemptFailed
from engine.model.placement import CODES
from engine.model.state import Execution, Fact
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Record
from engine.ports.taskrunner import TaskRunner

VERSION = version("propwash")
REFUSALS = frozenset({"LiteralOffloadingNotSupported", "LiteralOffloadingDisabled"})
"""Codes of failures that the runtime-version gate gives."""
_BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_COMMITS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_EFFECTS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200)
_TAKEOVERS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_DELAYS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600)
_LAGS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """A `Meter` (engine.loop.meter) for all engines of this process. Each has a registry of its own."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter, of no use here
        self._clock = clock
        self._turns: dict[int, float] = {}
        """Turns that have begun and are not committed, with the time of their beginning."""
        self._last = 0
        registry = self.registry = CollectorRegistry()
        self._states = StateGauges()
        self._transitions = Transitions(registry, self._states)
        registry.register(self._states)
        self._count_turns(registry)
        self._count_effects(registry)
        self._store = StoreCounts(registry)
        self.lag = Histogram(
            "propwash_loop_delay_seconds", "How late the event loop is.", registry=registry, buckets=_LAGS
        )
        about = Gauge("propwash_info", "Always 1; the version.", ["version"], registry=registry)
        about.labels(VERSION).set(1)
        hanging = Gauge("propwash_turn_open_seconds", "Seconds that the turn under way has taken.", registry=registry)
        hanging.set_function(self.stalled_seconds)
        self.ready = Gauge("propwash_ready", "1 once /readyz is 200.", registry=registry)

    def tell_of_process(self) -> None:
        """Blocking. Memory, CPU, open files and garbage collection of this process, too."""
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def _count_turns(self, registry: CollectorRegistry) -> None:
        self._turned = Counter("propwash_turns", "Turns that were committed.", registry=registry)
        self._batches = Histogram("propwash_turn_records", "Records of a turn.", registry=registry, buckets=_BATCHES)
        self._commits = Histogram(
            "propwash_commit_seconds", "Duration of the commit of a turn.", registry=registry, buckets=_COMMITS
        )
        self._events = Counter("propwash_events", "Events that were processed.", ["event"], registry=registry)
        self._stale = Counter("propwash_stale_events", "Events that came too late or twice.", registry=registry)
        self._dead = Counter("propwash_dead_letters", "Records that could not be processed.", registry=registry)
        self._refusals = Counter(
            "propwash_version_gate_refusals",
            "Attempts that failed because their runtime can't read references.",
            registry=registry,
        )
        self._takeovers = Histogram(
            "propwash_takeover_seconds",
            "From the beginning of taking over a partition until its engine goes on.",
            registry=registry,
            buckets=_TAKEOVERS,
        )
        self._delays = Histogram(
            "propwash_view_delay_seconds",
            "From a transition, in whatever process, until it can be read in this one.",
            registry=registry,
            buckets=_DELAYS,
        )
        self._restore = Gauge("propwash_restore_seconds", "Duration of the restore.", registry=registry)
        self._restored = Gauge("propwash_restored_executions", "Executions that were restored.", registry=registry)

    def _count_effects(self, registry: CollectorRegistry) -> None:
        self._effects = Histogram(
            "propwash_effect_seconds",
            "Duration of one try of an effect; of a task, as long as the task.",
            ["effect", "outcome"],
            registry=registry,
            buckets=_EFFECTS,
        )
        self._launches = Counter(
            "propwash_launches", "Attempts given to the runner, by architecture.", ["architecture"], registry=registry
        )
        self._misplaced = Counter(
            "propwash_architecture_refusals",
            "Attempts that failed because their architecture, or an image for it, is not there.",
            registry=registry,
        )
        self._gathered = Counter(
            "propwash_gathered_bytes", "Bytes of the values that maps have gathered.", registry=registry
        )

    def attend(self, residents: Residents) -> None:
        self._states.attend(residents)

    def leave(self, residents: Residents) -> None:
        self._states.leave(residents)

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        self._transitions.see(facts)

    def shown(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        if facts:
            self._delays.observe(max(time.time() - max(fact.at for fact in facts), 0.0))

    def restored(self, executions: int, seconds: float) -> None:
        self._restored.inc(executions)
        self._restore.set(seconds)

    def took_over(self, seconds: float) -> None:
        self._takeovers.observe(seconds)

    def tell_of_partitions(self, ask: Callable[[], Standing]) -> None:
        """From now on at every scrape."""
        self.registry.register(PartitionGauges(ask))

    def turning(self) -> int:
        self._last += 1
        self._turns[self._last] = self._clock()
        return self._last

    def turned(
        self, turn: int, records: Sequence[Record], dead_letters: int, stale: int, commit_seconds: float
    ) -> None:
        del self._turns[turn]
        self._turned.inc()
        self._batches.observe(len(records))
        self._commits.observe(commit_seconds)
        self._stale.inc(stale)
        self._dead.inc(dead_letters)
        for kind, count in Tally(type(record.event) for record in records).items():
            self._events.labels("undecodable" if kind is type(None) else kind.__name__).inc(count)
        refused = [event for record in records if isinstance(event := record.event, AttemptFailed)]
        self._refusals.inc(sum(event.failure.code in REFUSALS for event in refused))
        self._misplaced.inc(sum(event.failure.code in CODES for event in refused))

    def abandoned(self, turn: int) -> None:
        self._turns.pop(turn, None)

    def performed(self, effect: Effect, outcome: Outcome, seconds: float) -> None:
        self._effects.labels(type(effect).__name__, outcome).observe(seconds)
        if outcome == "retried":
            self._transitions.retried("passing")
        elif isinstance(effect, GatherOutputs) and outcome == "done":
            self._gathered.inc(sum(effect.elements.output_bytes.values()))

    def watching(self, silence_seconds: Callable[[], float], objects: Callable[[], int]) -> None:
        silence = Gauge(
            "propwash_kubernetes_silence_seconds",
            "Seconds since the quietest watch of pods had its last sign of life.",
            registry=self.registry,
        )
        silence.set_function(silence_seconds)
        held = Gauge("propwash_kubernetes_pods", "Pods that are watched, ended ones too.", registry=self.registry)
        held.set_function(objects)

    def runner(self, runner: TaskRunner) -> TaskRunner:
        return MeteredRunner(runner, self._launches)

    def store(self, blobs: BlobStore) -> BlobStore:
        return MeteredBlobs(blobs, self._store)

    def stalled_seconds(self) -> float:
        """For how long the turn has been going on that has not ended for longest; 0 = none is."""
        return max((self._clock() - began for began in self._turns.values()), default=0.0)
