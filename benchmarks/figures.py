"""A figure: a measured value beside the reference to judge it by, because absolute times drift with machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

LATEST = Path(__file__).with_name("latest.json")


class Figure(Struct, frozen=True):
    name: str
    value: float
    unit: str
    reference: float
    """What the reference gave, in the same unit."""
    ratio: float
    """Time of ours / time of the reference (for shares: our speed / its speed)."""
    note: str = ""


def line(figure: Figure) -> str:
    ratio = f"{figure.ratio:8.2f} x" if figure.reference else " " * 10
    reference = f"{figure.reference:12.3f}" if figure.reference else " " * 12
    return f"{figure.name:<20} {figure.value:12.3f} {figure.unit:<10} {reference} {ratio}  {figure.note}".rstrip()


HEAD = f"{'figure':<20} {'value':>12} {'unit':<10} {'reference':>12} {'ratio':>10}"


def write(figures: Sequence[Figure]) -> None:
    LATEST.write_text(json.dumps(to_builtins(figures), indent=2) + "\n")
