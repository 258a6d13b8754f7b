"""The gather, as a share of a plain copy of the same bytes."""

from __future__ import annotations

import time

from msgspec import structs

from benchmarks.figures import Figure
from benchmarks.programs import STR, literal_map, map_of, text
from benchmarks.reference import copied_once
from benchmarks.workloads import peak_megabytes, plain_files
from benchmarks.worlds import execution, fresh_home
from engine.adapters.files.blobs import FileBlobs
from engine.data.framing import framed_size
from engine.data.gather import gather
from engine.machine import arrays
from engine.model import layout
from engine.model.effects import GatherOutputs
from engine.model.ids import AttemptKey
from engine.model.limits import MIB, OffloadLimits
from engine.model.phases import NodePhase

ROUNDS = 10
MEGABYTES = 1_100
"""What ten turns may copy; of larger ones three do."""


async def gathered(count: int, length: int, limits: OffloadLimits, name: str) -> list[Figure]:
    """Elements of one text each, written by hand, gathered and copied by turns: the best of each.

    What the turn before has written is removed first: to replace a file makes ext4 write the old one to the disk, and
    whatever is written meanwhile is held up by that.
    """
    effect, outputs, total = made(count, length)
    async with fresh_home() as home, FileBlobs.open(home / "store") as blobs:
        for key in element_keys(count):
            await blobs.put(blobs.uri(key), outputs)
        source, copy = plain_files(home, outputs, count), home / "copy"
        results = home / "store" / layout.attempt_prefix(effect.key)
        before = peak_megabytes()
        await gather(blobs, limits, effect)
        grown = peak_megabytes() - before
        best = plain = float("inf")
        for _ in range(ROUNDS if total * ROUNDS <= MEGABYTES else 3):
            for path in [*results.glob("*.pb*"), copy]:
                path.unlink(missing_ok=True)
            begin = time.perf_counter()
            await gather(blobs, limits, effect)
            best = min(best, time.perf_counter() - begin)
            plain = min(plain, copied_once(source, copy))
    note = f"memory +{grown:.0f} MB; ratio = share of a plain copy's speed"
    return [Figure(name, total / best, "MB/s", total / plain, plain / best, note)]


def made(count: int, length: int) -> tuple[GatherOutputs, bytes, float]:
    """The gather of so many texts of one length, what each element has written, and megabytes in all."""
    literal = text(length)
    outputs, framed = literal_map(o0=literal), framed_size(literal.ByteSize())
    program = map_of(STR)
    (task,) = program.tasks.values()
    (workflow,) = program.workflows.values()
    elements = arrays.created(count)
    for index in range(count):
        elements = arrays.with_element(elements, index, NodePhase.SUCCEEDED)
    elements = structs.replace(elements, output_bytes={"o0": framed * count}, next=count)
    effect = GatherOutputs(AttemptKey(execution(), "n0"), workflow.nodes["n0"], task, elements)
    return effect, outputs, count * framed / 1e6


def element_keys(count: int) -> list[str]:
    """Where the elements have written."""
    return [layout.outputs(AttemptKey(execution(), "n0", 0, index)) for index in range(count)]


INLINE = OffloadLimits(enabled=False)
OFFLOADED = OffloadLimits(min_size=MIB)
