"""The elements of a map node: two bytes each, and how many of them must succeed."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from msgspec import structs

from engine.model.graph import ArraySpec
from engine.model.phases import LIVE, NodePhase
from engine.model.state import CHUNK, Elements

MAX_ATTEMPT = 255
"""The attempt of an element is one byte: an element that reaches it is not tried again."""
MAX_SYSTEM_FAILURES = 15
_PHASES = tuple(NodePhase)
"""By number: making one of a number is ten times as slow."""
_PHASE_BITS = bytes(byte & 15 for byte in range(256))


def created(size: int) -> Elements:
    """`size` elements, none of them started."""
    full, rest = divmod(size, CHUNK)
    chunks = (bytes(2 * CHUNK),) * full + ((bytes(2 * rest),) if rest else ())
    return Elements(size=size, chunks=chunks)


def phase_of(elements: Elements, index: int) -> NodePhase:
    return _PHASES[elements.chunks[index // CHUNK][2 * (index % CHUNK)] & 15]


def system_failures_of(elements: Elements, index: int) -> int:
    return elements.chunks[index // CHUNK][2 * (index % CHUNK)] >> 4


def attempt_of(elements: Elements, index: int) -> int:
    return elements.chunks[index // CHUNK][2 * (index % CHUNK) + 1]


def with_element(
    elements: Elements, index: int, phase: NodePhase, attempt: int | None = None, system_failures: int | None = None
) -> Elements:
    """One element in another state; costs the copy of one chunk, whatever the size of the map.

    Keeps `live`, `succeeded` and `failed` in step with the phases.
    """
    number, offset = index // CHUNK, 2 * (index % CHUNK)
    chunk = bytearray(elements.chunks[number])
    old = _PHASES[chunk[offset] & 15]
    system_failures = chunk[offset] >> 4 if system_failures is None else min(system_failures, MAX_SYSTEM_FAILURES)
    chunk[offset] = phase | system_failures << 4
    if attempt is not None:
        chunk[offset + 1] = attempt
    return structs.replace(
        elements,
        chunks=(*elements.chunks[:number], bytes(chunk), *elements.chunks[number + 1 :]),
        live=elements.live + (phase in LIVE) - (old in LIVE),
        succeeded=elements.succeeded + (phase is NodePhase.SUCCEEDED) - (old is NodePhase.SUCCEEDED),
        failed=elements.failed + (phase is NodePhase.FAILED) - (old is NodePhase.FAILED),
    )


def in_phase(elements: Elements, *phases: NodePhase) -> Iterator[int]:
    """Indexes of the elements in any of the phases, in order."""
    wanted = {phase.value for phase in phases}
    for number, chunk in enumerate(elements.chunks):
        for offset, byte in enumerate(chunk[::2]):
            if byte & 15 in wanted:
                yield number * CHUNK + offset


def count(elements: Elements, phase: NodePhase) -> int:
    """How many elements are in the phase: some microseconds a chunk."""
    sign = bytes((phase.value,))
    return sum(chunk[::2].translate(_PHASE_BITS).count(sign) for chunk in elements.chunks)


def at_work(elements: Elements) -> Iterator[int]:
    """Indexes of the elements of which an attempt is under way: live, and not waiting for their next one."""
    return in_phase(elements, NodePhase.QUEUED, NodePhase.RUNNING, NodePhase.ABORTING)


def put_off(elements: Elements, index: int, at: float, system_failures: int) -> Elements:
    """An attempt of an element has failed, and its next one is due at a time."""
    after = with_element(elements, index, NodePhase.RETRYABLE_FAILURE, system_failures=system_failures)
    return structs.replace(after, waiting={**elements.waiting, index: at})


def taken_up(elements: Elements, now: float) -> tuple[Elements, tuple[int, ...]]:
    """The elements whose next attempt is due are QUEUED for it; which they are."""
    due = tuple(index for index, at in elements.waiting.items() if at <= now)
    for index in due:
        elements = with_element(elements, index, NodePhase.QUEUED, attempt_of(elements, index) + 1)
    left = {index: at for index, at in elements.waiting.items() if at > now}
    return structs.replace(elements, waiting=left), due


def given_up(elements: Elements) -> tuple[Elements, tuple[int, ...]]:
    """No element waits for another attempt any more: those that did are ABORTED; which they are."""
    waited = tuple(elements.waiting)
    for index in waited:
        elements = with_element(elements, index, NodePhase.ABORTED)
    return structs.replace(elements, waiting={}), waited


def next_due(elements: Elements) -> float:
    """The time of the earliest attempt that is put off; 0 = none."""
    return min(elements.waiting.values(), default=0.0)


def needed(size: int, spec: ArraySpec) -> int:
    """How many of `size` elements must succeed, as flytekit's local execution counts.

    `min_successes` wins, then the ratio, then all; 0 counts as not given, for both. The ratio travels as a float32: its
    shortest decimal text is what the author wrote, so 0.6 over 10 elements needs 6 and not 7 (Flyte 1 asks for 7).
    """
    if spec.min_successes:
        return spec.min_successes
    if spec.min_success_ratio:
        return math.ceil(size * decimal_of(spec.min_success_ratio))
    return size


def decimal_of(ratio: float) -> float:
    """The shortest decimal number that has the same float32 value."""
    stored = struct.pack("<f", ratio)
    for digits in range(1, 9):
        candidate = float(f"{ratio:.{digits}g}")
        if struct.pack("<f", candidate) == stored:
            return candidate
    return ratio


def spans(indexes: Iterator[int], most: int = 100) -> str:
    """Indexes as people read them, `[0-2,5]`; after `most` spans the rest is only counted."""
    found: list[list[int]] = []
    rest = 0
    for index in indexes:
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        elif len(found) < most:
            found.append([index, index])
        else:
            rest += 1
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
    return f"[{text}]" + (f" and {rest} more" if rest else "")
