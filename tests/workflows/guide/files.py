"""Files and folders: a CSV whose columns are normalised, and a folder of such."""

import csv
import os
from functools import partial
from pathlib import Path

from flytekit import current_context, map_task, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


def normalised(column: list[float]) -> list[float]:
    mean = sum(column) / len(column)
    deviation = (sum((value - mean) ** 2 for value in column) / len(column)) ** 0.5
    return [round((value - mean) / deviation, 3) for value in column]


@task
def make(rows: int) -> FlyteDirectory:
    folder = Path(current_context().working_directory, "tables")
    folder.mkdir()
    for number in range(2):
        with open(folder / f"table{number}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "speed", "weight"])
            writer.writerows([f"row{k}", k * (number + 1), 10 - k] for k in range(rows))
    return FlyteDirectory(path=str(folder))


@task
def files_in(folder: FlyteDirectory) -> list[FlyteFile]:
    folder.download()
    return [FlyteFile(str(path)) for path in sorted(Path(folder.path).iterdir())]


@task
def normalise(table: FlyteFile, columns: list[str]) -> FlyteFile:
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    for column in columns:
        for row, value in zip(rows, normalised([float(row[column]) for row in rows])):
            row[column] = value
    out = Path(current_context().working_directory) / f"normalised-{os.path.basename(table.path)}"
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return FlyteFile(path=str(out))


@task
def gather(tables: list[FlyteFile]) -> FlyteDirectory:
    folder = Path(current_context().working_directory, "all")
    folder.mkdir()
    for table in tables:
        (folder / os.path.basename(table.path)).write_text(Path(table).read_text())
    return FlyteDirectory(str(folder))


@workflow
def normalise_all(rows: int = 3, columns: list[str] = ["speed", "weight"]) -> FlyteDirectory:
    tables = files_in(folder=make(rows=rows))
    return gather(tables=map_task(partial(normalise, columns=columns))(table=tables))


@workflow
def normalise_one(table: FlyteFile, columns: list[str]) -> FlyteFile:
    return normalise(table=table, columns=columns)
