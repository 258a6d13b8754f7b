"""Pydantic models as values, whole and by their fields."""

import datetime as dt
import enum
from typing import Optional, Union

from flytekit import map_task, task, workflow
from pydantic import BaseModel, Field


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Leaf(BaseModel):
    weight: float
    tags: dict[str, int] = Field(default_factory=dict)


class Model(BaseModel):
    n: int
    words: list[str] = []
    inner: Optional[dict[str, int]] = None
    leaf: Optional[Leaf] = None
    leaves: list[Leaf] = []
    level: Level = Level.LOW
    either: Union[int, str] = "x"
    lasts: dt.timedelta = dt.timedelta(seconds=90)


@task
def model(n: int) -> Model:
    leaves = [Leaf(weight=k / 2, tags={"k": k}) for k in range(n)]
    return Model(
        n=n, words=["x", "y"], inner={"k": n}, leaf=Leaf(weight=1.5), leaves=leaves, level=Level.HIGH, either=5
    )


@task
def numbers(a: int, b: int, c: float, d: float) -> list[float]:
    return [float(n) for n in (a, b, c, d)]


@task
def words(texts: list[str], leaf: Leaf, level: Level) -> str:
    return f"{texts} {leaf!r} {level}"


@task
def heavier(leaf: Leaf) -> Leaf:
    return Leaf(weight=leaf.weight + 1, tags=leaf.tags)


@task
def same(model: Model, many: list[Model], maybe: Optional[Model]) -> tuple[Model, list[Model], Optional[Model]]:
    return model, many, maybe


@workflow
def through(model: Model, maybe: Optional[Model] = None) -> tuple[Model, list[Model], Optional[Model]]:
    return same(model=model, many=[model, model], maybe=maybe)


@workflow
def fields(n: int) -> tuple[list[float], str]:
    made = model(n=n)
    return (
        numbers(a=made.n, b=made.inner["k"], c=made.leaf.weight, d=made.leaves[1].weight),
        words(texts=made.words, leaf=made.leaves[-1], level=made.level),
    )


@workflow
def mapped(n: int) -> list[Leaf]:
    return map_task(heavier)(leaf=model(n=n).leaves)
