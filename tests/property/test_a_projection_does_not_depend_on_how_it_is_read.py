"""States and history are read side by side, in batches of any size: each name shows its last run, whole."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import ConsumerRecord, TopicPartition
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.kafka.follower import update_of
from engine.adapters.kafka.keys import key_of, node_key
from engine.adapters.sqlite.projection import SqliteProjection
from engine.model.graph import NodeKind
from engine.model.ids import EntityId, EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.wire import codec

STATE, HISTORY = TopicPartition("t.state", 0), TopicPartition("t.history", 0)
WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "v1")
KEEP_SECONDS = 1000.0
Found = ConsumerRecord[bytes, bytes]


@dataclass
class Run:
    """One run of a name: so many nodes, whether it ended, and whether the log has forgotten it."""

    nodes: int
    ends: bool = True
    forgotten: bool = True


@dataclass
class Topics:
    records: dict[TopicPartition, list[Found]] = field(default_factory=lambda: {STATE: [], HISTORY: []})
    expected: dict[ExecutionId, tuple[Snapshot, list[Fact]] | None] = field(default_factory=dict)
    now: float = 0.0

    def write(self, topic: TopicPartition, key: bytes, value: bytes | None) -> None:
        found = self.records[topic]
        found.append(
            ConsumerRecord(topic.topic, 0, len(found), 0, 0, key, value, None, len(key), len(value or b""), ())
        )

    def run(self, id: ExecutionId, run: Run) -> None:
        """What an engine commits, as it commits it: nodes before their execution, facts beside."""
        began = self.now
        facts: list[Fact] = []

        def fact(phase: str, path: str = "") -> None:
            self.now += 1.0
            facts.append(Fact(id, len(facts) + 1, self.now, phase, path))
            self.write(HISTORY, key_of(id), codec.pack_fact(facts[-1]))

        record = Execution(id, WORKFLOW, WORKFLOW, f"digest-{began}", ExecutionPhase.RUNNING, submitted_at=began)
        fact("RUNNING")
        self.write(STATE, key_of(id), codec.pack_execution(record))
        nodes = []
        for number in range(run.nodes):
            for phase in (NodePhase.QUEUED, NodePhase.SUCCEEDED):
                node = Node(f"n{number}", NodeKind.TASK, phase, outputs_uri=f"mem://{began}")
                fact(phase.name, node.path)
                self.write(STATE, node_key(key_of(id), node.path), codec.pack_node(node))
            nodes.append(node)
        if run.ends:
            fact("SUCCEEDED")
            record = Execution(
                id, WORKFLOW, WORKFLOW, f"digest-{began}", ExecutionPhase.SUCCEEDED, submitted_at=began,
                ended_at=self.now, sequence=len(facts),
            )  # fmt: skip
            self.write(STATE, key_of(id), codec.pack_execution(record))
        self.expected[id] = Snapshot(record, tuple(nodes)), facts
        if run.ends and run.forgotten:
            for node in nodes:
                self.write(STATE, node_key(key_of(id), node.path), None)
            self.write(STATE, key_of(id), None)
            self.expected[id] = None


def runs_of(plan: Sequence[tuple[int, int, bool, bool]]) -> Topics:
    """Names take turns; a name is used again only after the log has forgotten it."""
    topics = Topics()
    for name, nodes, ends, forgotten in plan:
        id = ExecutionId("p", "d", f"e{name}")
        if topics.expected.get(id) is None:
            topics.run(id, Run(nodes, ends, forgotten))
    return topics


async def read(topics: Topics, cuts: Sequence[tuple[int, int]], projection: SqliteProjection) -> None:
    """In batches of so many states and so many facts; the rest at the end."""
    ahead = {STATE: 0, HISTORY: 0}
    most = 1 + len(topics.records[STATE]) + len(topics.records[HISTORY])
    for states, facts in [*cuts, (most, most)]:
        batch = {}
        for topic, count in ((STATE, states), (HISTORY, facts)):
            if found := topics.records[topic][ahead[topic] : ahead[topic] + count]:
                batch[topic] = found
                ahead[topic] += len(found)
        if batch:
            await projection.absorb(update_of(batch))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans(), st.booleans()), max_size=6),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=12),
)
async def test_each_name_shows_its_last_run(
    plan: list[tuple[int, int, bool, bool]], cuts: list[tuple[int, int]]
) -> None:
    topics, now = runs_of(plan), [0.0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.db"
        async with SqliteProjection.open(path, "t", KEEP_SECONDS, lambda *_: None, lambda: now[0]) as projection:
            await read(topics, cuts, projection)
            for id, expected in topics.expected.items():
                snapshot, facts = expected or (None, [])
                assert await projection.snapshot(id) == snapshot
                if expected:
                    assert await projection.history(id) == facts
            ends = {f"{topic.topic}/0": len(found) for topic, found in topics.records.items() if found}
            assert projection.positions == ends

            now[0] = topics.now + KEEP_SECONDS + 1.0
            await projection.prune()
            for id, expected in topics.expected.items():
                live = expected is not None and not expected[0].execution.terminal
                assert (await projection.snapshot(id) is not None) == live
                assert (await projection.history(id) != []) == live
