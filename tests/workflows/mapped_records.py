"""Map tasks over dataclasses and files."""

from dataclasses import dataclass

from flytekit import map_task, task, workflow
from flytekit.types.file import FlyteFile


@dataclass
class Point:
    x: int
    name: str = "p"


@task
def points(n: int) -> list[Point]:
    return [Point(k, f"p{k}") for k in range(n)]


@task
def moved(p: Point) -> Point:
    return Point(p.x + 1, p.name + "'")


@task
def inc(x: int) -> int:
    return x + 1


@task
def write(n: int) -> FlyteFile:
    with open(f"{n}.txt", "w") as file:
        file.write(f"n{n}")
    return FlyteFile(f"{n}.txt")


@task
def read(file: FlyteFile) -> str:
    with open(file) as handle:
        return handle.read()


@workflow
def dataclasses(n: int) -> tuple[list[Point], int]:
    m = map_task(moved)(p=map_task(moved)(p=points(n=n)))
    return m, inc(x=m[1].x)


@workflow
def files(ns: list[int]) -> list[str]:
    return map_task(read)(file=map_task(write)(n=ns))
