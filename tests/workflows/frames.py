"""Tables and arrays: pandas, StructuredDataset with and without columns, numpy."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Optional

import numpy
import pandas
import pyarrow
from flytekit import HashMethod, kwtypes, map_task, task, workflow
from flytekit.types.structured import StructuredDataset

Ages = Annotated[StructuredDataset, kwtypes(age=int)]
People = Annotated[pandas.DataFrame, OrderedDict(name=str, age=int)]


@dataclass
class Report:
    title: str
    rows: StructuredDataset


def shape_of(frame: pandas.DataFrame) -> str:
    return str(frame.shape)


@task
def people(n: int) -> pandas.DataFrame:
    return pandas.DataFrame(
        {"name": [f"näme {k}" for k in range(n)], "age": list(range(n)), "rate": [k / 2 for k in range(n)]}
    )


@task
def typed_people(n: int) -> People:
    return pandas.DataFrame({"name": [f"n{k}" for k in range(n)], "age": list(range(n))})


@task
def dataset(frame: pandas.DataFrame) -> StructuredDataset:
    return StructuredDataset(dataframe=frame)


@task
def total_age(rows: Ages) -> int:
    return int(rows.open(pandas.DataFrame).all()["age"].sum())


@task
def columns_of(rows: Ages) -> list[str]:
    return list(rows.open(pandas.DataFrame).all().columns)


@task
def as_arrow(rows: StructuredDataset) -> int:
    return rows.open(pyarrow.Table).all().num_rows


@task
def shown(frame: pandas.DataFrame) -> str:
    return frame.to_csv(index=False)


@task
def grown(frame: pandas.DataFrame) -> Annotated[pandas.DataFrame, HashMethod(shape_of)]:
    return pandas.concat([frame, frame], ignore_index=True)


@task
def size_of(frame: Optional[pandas.DataFrame] = None) -> int:
    return -1 if frame is None else len(frame)


@task
def report(frame: pandas.DataFrame) -> Report:
    return Report("Bericht", StructuredDataset(dataframe=frame))


@task
def of_report(report: Report) -> str:
    return f"{report.title} {len(report.rows.open(pandas.DataFrame).all())}"


@task
def array(n: int) -> numpy.ndarray:
    return numpy.arange(n * 2, dtype=numpy.float64).reshape(n, 2)


@task
def twice(array: numpy.ndarray) -> numpy.ndarray:
    return array * 2


@task
def shown_array(array: numpy.ndarray) -> str:
    return f"{array.tolist()} {array.dtype}"


@workflow
def wf_people(n: int) -> tuple[str, int, pandas.DataFrame]:
    made = people(n=n)
    bigger = grown(frame=made)
    return shown(frame=made), size_of(frame=bigger), bigger


@workflow
def wf_datasets(n: int) -> tuple[int, list[str], int, int, int]:
    rows = dataset(frame=people(n=n))
    return total_age(rows=rows), columns_of(rows=typed_people(n=n)), as_arrow(rows=rows), size_of(frame=rows), size_of()


@workflow
def wf_many(ns: list[int]) -> list[int]:
    return map_task(size_of)(frame=map_task(people)(n=ns))


@workflow
def wf_report(n: int) -> tuple[str, int]:
    made = report(frame=people(n=n))
    return of_report(report=made), total_age(rows=made.rows)


@workflow
def wf_arrays(n: int) -> str:
    return shown_array(array=twice(array=array(n=n)))
