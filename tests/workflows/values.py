"""Every type of value that the engine passes on."""

import datetime
import enum
from dataclasses import dataclass, field
from typing import Annotated, Optional, Union

from flytekit import HashMethod, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Point:
    x: int = 0
    y: float = 0.5


@dataclass
class Box:
    corner: Point = field(default_factory=Point)
    names: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)


@task
def make_box(n: int) -> Box:
    return Box(Point(n, 1.5), [f"name{i}" for i in range(n)], {"a": n})


@task
def use_parts(x: int, y: float, names: list[str], a: int) -> str:
    return f"{x} {y} {names} {a}"


@task
def use_box(box: Box, boxes: list[Box], by_name: dict[str, Box]) -> int:
    return len(boxes) + len(by_name) + box.corner.x


@task
def paint(colour: Colour, name: str) -> Colour:
    return colour


@task
def maybe(n: Optional[int] = None, either: Union[int, str] = "s") -> Optional[str]:
    return None if n is None else f"{n}{either}"


@task
def times(at: datetime.datetime, lasts: datetime.timedelta, day: datetime.date) -> str:
    return f"{at + lasts} {day}"


@task
def untyped(table: dict, anything: list[dict[str, int]]) -> dict:
    return table


@task
def write_file(text: str) -> FlyteFile:
    path = "note.txt"
    with open(path, "w") as handle:
        handle.write(text)
    return FlyteFile(path)


@task
def read_file(file: FlyteFile, folder: Optional[FlyteDirectory] = None) -> str:
    with open(file) as handle:
        return handle.read()


def first_letter(text: str) -> str:
    return text[:1]


@task
def hashed(n: int) -> Annotated[str, HashMethod(first_letter)]:
    return str(n)


@task
def named(text: str, numbers: list[float]) -> str:
    return f"{text} {numbers}"


@workflow
def parts(n: int) -> str:
    box = make_box(n=n)
    return use_parts(x=box.corner.x, y=box.corner.y, names=box.names, a=box.sizes["a"])


@workflow
def boxes(n: int, given: Box = Box()) -> int:
    one = make_box(n=n)
    return use_box(box=given, boxes=[one, given], by_name={"one": one})


@workflow
def colours(colour: Colour = Colour.RED) -> Colour:
    return paint(colour=colour, name="wall")


@workflow
def options(n: Optional[int] = None) -> tuple[Optional[str], Optional[str], Optional[str]]:
    return maybe(n=n), maybe(n=3, either=4), maybe()


@workflow
def clocks(at: datetime.datetime, lasts: datetime.timedelta, day: datetime.date) -> str:
    return times(at=at, lasts=lasts, day=day)


@workflow
def files(text: str = "hello") -> str:
    return read_file(file=write_file(text=text))


@workflow
def loose(table: dict) -> dict:
    return untyped(table=table, anything=[{"a": 1}])


@workflow
def hashes(n: int) -> str:
    return named(text=hashed(n=n), numbers=[1.0, 2.5])
