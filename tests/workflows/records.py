"""Dataclasses as values, whole."""

import enum
from dataclasses import dataclass, field
from typing import Optional

from flytekit import task, workflow


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Leaf:
    n: int
    rate: float = 0.5
    ok: bool = True


@dataclass
class Tree:
    name: str
    leaf: Leaf
    leaves: list[Leaf] = field(default_factory=list)
    table: dict[str, list[int]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    limit: Optional[int] = None
    level: Level = Level.LOW
    by_name: dict[str, Leaf] = field(default_factory=dict)


@task
def records(
    one: Tree, many: list[Tree], named: dict[str, Tree], maybe: Optional[Tree]
) -> tuple[Tree, list[Tree], dict[str, Tree], Optional[Tree]]:
    return one, many, named, maybe


@workflow
def through(
    one: Tree, many: list[Tree], named: dict[str, Tree], maybe: Optional[Tree] = None
) -> tuple[Tree, list[Tree], dict[str, Tree], Optional[Tree]]:
    return records(one=one, many=many, named=named, maybe=maybe)
