"""Dataclasses: as a whole, and their parts by name; files and tables in them."""

import os
import tempfile
from dataclasses import dataclass, field
from enum import Enum

import pandas as pd
from flytekit import task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile
from flytekit.types.structured import StructuredDataset


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


@dataclass
class Size:
    width: float
    unit: Unit = Unit.METRE


@dataclass
class Datum:
    x: int
    y: str
    z: dict[int, str]
    sizes: list[Size] = field(default_factory=list)


@dataclass
class Results:
    table: StructuredDataset
    file: FlyteFile
    folder: FlyteDirectory


@task
def stringify(number: int) -> Datum:
    return Datum(number, str(number), {number: str(number)}, [Size(number / 2, Unit.FOOT)])


@task
def add(a: Datum, b: Datum) -> Datum:
    return Datum(a.x + b.x, a.y + b.y, {**a.z, **b.z}, a.sizes + b.sizes)


@task
def show(x: int, y: str, width: float, unit: Unit) -> str:
    return f"{x} {y} {width} {unit.value}"


@task
def upload() -> Results:
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "data.csv"), "w") as file:
        file.write("a,b\n1,2\n")
    path = os.path.join(tempfile.mkdtemp(), "note.txt")
    with open(path, "w") as file:
        file.write("Hallo ✓")
    frame = pd.DataFrame({"name": ["Tom", "Joseph"], "age": [20, 22]})
    return Results(StructuredDataset(dataframe=frame), FlyteFile(path), FlyteDirectory(folder))


@task
def download(results: Results) -> str:
    ages = results.table.open(pd.DataFrame).all()["age"].sum()
    with open(results.file) as file:
        note = file.read()
    return f"{ages} {note} {sorted(os.listdir(results.folder))}"


@task
def length(file: FlyteFile) -> int:
    with open(file) as handle:
        return len(handle.read())


@workflow
def data_classes(x: int, y: int) -> tuple[Datum, str]:
    total = add(a=stringify(number=x), b=stringify(number=y))
    return total, show(x=total.x, y=total.y, width=total.sizes[1].width, unit=total.sizes[0].unit)


@workflow
def attributes_of_results() -> tuple[str, int]:
    made = upload()
    return download(results=made), length(file=made.file)
