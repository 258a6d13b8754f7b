"""What the topics say about the engines that wrote them: who had which partition, and what became of each execution."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

from aiokafka import TopicPartition

from engine.adapters.kafka.claim import claim_in
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import BARRIER, key_of, split_key
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.machine import invariants
from engine.machine.replay import Replay
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.wire import codec


async def gather(clients: Clients) -> Evidence:
    """All that is committed."""
    found = Evidence()
    for number in range(clients.options.partitions):
        async for record in _records(clients, Topic.STATE, number):
            if (claim := claim_in(record)) is not None:
                found.claims[number].append((claim.owner, claim.turn, claim.cursor))
            else:
                found.states[number][record.key or b""] = record.value or b""
        found.facts += [
            codec.unpack_fact(record.value or b"") async for record in _records(clients, Topic.HISTORY, number)
        ]
        found.letters += [record.value or b"" async for record in _records(clients, Topic.DEAD_LETTERS, number)]
    return found


async def _records(clients: Clients, which: Topic, number: int) -> AsyncIterator[Found]:
    async for _, records in read_to_end(clients, TopicPartition(clients.options.topic(which), number)):
        for record in records:
            yield record


class Evidence:
    """What the topics hold at the end, in their order."""

    def __init__(self) -> None:
        self.claims: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
        """Partition -> owner, number of its commit, cursor: one for each commit there was."""
        self.states: dict[int, dict[bytes, bytes]] = defaultdict(dict)
        self.facts: list[Fact] = []
        self.letters: list[bytes] = []

    def problems(self, ids: Sequence[ExecutionId]) -> list[str]:
        """What is not as it must be."""
        return [*self._of_claims(), *self._of_histories(ids), *(f"dead letter {letter!r}" for letter in self.letters)]

    def owners(self) -> list[int]:
        """How many each partition has had."""
        return [len({owner for owner, _, _ in claims}) for claims in self.claims.values()]

    @property
    def takeovers(self) -> int:
        return sum(self.owners())

    def ended(self) -> set[ExecutionId]:
        return {each for each, snapshot in self._snapshots().items() if snapshot.execution.terminal}

    def unfinished(self) -> list[str]:
        """Executions that have not ended, and what is live in them."""
        return [
            f"{snapshot.execution.id.name} {[(node.path, node.phase.name) for node in snapshot.nodes if node.live]}"
            for snapshot in self._snapshots().values()
            if not snapshot.execution.terminal
        ]

    def _of_claims(self) -> list[str]:
        """One owner at a time, each commit once, and a cursor that never goes back."""
        found = []
        for partition, claims in self.claims.items():
            gone: set[str] = set()
            for (owner, turn, cursor), (next_owner, next_turn, next_cursor) in pairwise(claims):
                where = f"partition {partition}: {next_owner} {next_turn} after {owner} {turn}"
                if next_owner != owner:
                    gone.add(owner)
                if next_owner in gone:
                    found.append(f"{where}: an owner that was gone has written")
                if next_owner == owner and next_turn != turn + 1:
                    found.append(f"{where}: a commit is missing, or came twice")
                if next_cursor < cursor:
                    found.append(f"{where}: the cursor went back from {cursor} to {next_cursor}")
        return found

    def _of_histories(self, ids: Sequence[ExecutionId]) -> list[str]:
        replays: dict[ExecutionId, Replay] = defaultdict(Replay)
        successes: Counter[tuple[ExecutionId, str, int | None]] = Counter()
        for fact in self.facts:
            replays[fact.execution].take([fact])
            if fact.path and fact.phase == "SUCCEEDED":
                successes[fact.execution, fact.path, fact.index] += 1
        found = [f"{key} succeeded {count} times" for key, count in successes.items() if count != 1]
        snapshots = self._snapshots()
        for execution in ids:
            snapshot = snapshots.get(execution)
            if snapshot is None:
                found.append(f"{execution} is not there")
                continue
            problems = [*replays[execution].against(snapshot), *invariants.of_snapshot(snapshot)]
            found += [f"{execution} {problem.node}: {problem.what}" for problem in problems]
            if snapshot.execution.phase is not ExecutionPhase.SUCCEEDED:
                found.append(f"{execution} is {snapshot.execution.phase.value}: {snapshot.execution.error}")
        return found

    def _snapshots(self) -> dict[ExecutionId, Snapshot]:
        records: dict[bytes, Execution] = {}
        nodes: dict[bytes, list[Node]] = defaultdict(list)
        for states in self.states.values():
            for key, value in states.items():
                if key == BARRIER:
                    continue
                execution, path = split_key(key)
                if value and path is None:
                    records[execution] = codec.unpack_execution(value)
                elif value:
                    nodes[execution].append(codec.unpack_node(value))
        return {record.id: Snapshot(record, tuple(nodes[key_of(record.id)])) for record in records.values()}
