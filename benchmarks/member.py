"""One process of a fleet on Kafka, for on_kafka_together: it says how much it owns, and how many executions have ended.

Arguments: the broker, the name of topics and group, the number of partitions, the home with the store.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from benchmarks.workloads import ONE
from benchmarks.worlds import equipment
from engine.adapters.files.blobs import FileBlobs
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import KafkaOptions
from engine.adapters.memory.scripts import gives
from engine.fleet import fleet_on
from engine.model.state import Execution, Fact
from tests.programs import chain

LOOK_SECONDS = 0.05


async def main(*said: str) -> None:
    broker, name, partitions, home = said
    program, ended = chain(5), 0
    clients = Clients(KafkaOptions(broker, prefix=name, group=name, partitions=int(partitions)), {})

    def count(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        nonlocal ended
        ended += sum(record.terminal for record in executions)
        print("ended", ended, flush=True)

    async with (
        FileBlobs.open(Path(home) / "store", porter=True) as blobs,
        fleet_on(equipment(blobs, program, gives(blobs, ONE)), clients) as fleet,
    ):
        fleet.watchers.add(count)
        owned = -1
        while True:
            if len(fleet.engines) != owned:
                owned = len(fleet.engines)
                print("owned", owned, flush=True)
            await anyio.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 20)  # as the command does
    anyio.run(main, *sys.argv[1:], backend_options={"use_uvloop": True})
